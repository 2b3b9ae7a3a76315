// A measurement in a file restored by a network, from the file to the report: what `eps restore`
// does, for programs.
//
//   const eps::Checkpoint network = eps::read_checkpoint(eps::find_model("faces64-eps"));
//   const eps::RestorationResult result = eps::restore_measurement(
//       {.input = "y.png", .operator_options = {.mask = "mask.png"}}, network);
//   eps::write_png("mean.png", eps::to_uint8(result.restoration.mean));
#pragma once

#include <optional>

#include "eps/restore/measurement.h"
#include "eps/restore/report.h"

namespace eps {

inline constexpr double kSimulatedNoise = 0.05;  // sigma_y, where none is given

// A `RestorationRequest` says what is to be restored, and how.
struct RestorationRequest {
  std::string input = {};  // file of the measurement, or of a clean image to be measured first
  OperatorOptions operator_options = {};
  bool simulate = false;                // `input` is a clean image
  std::optional<double> sigma_y = {};   // of the measurement; none: estimated, or kSimulatedNoise
  std::string network = "the network";  // its name, for the report and for messages
  int64_t steps = 20;                   // evaluations of the network for each sample
  RestorationOptions options = {};      // its `channels` is the network's in any case
  // Called before the evaluations for the noise and those for the samples: their name, and how
  // many there are at most. RestorationOptions::on_evaluation counts them.
  std::function<void(const std::string& name, int64_t total)> on_stage = {};
  std::function<void(const std::string& warning)> on_warning = {};  // at once
};

// A `RestorationResult` holds all that is known of a restored measurement.
struct RestorationResult {
  Measurement measurement = {};
  Restoration restoration = {};
  RestorationReport report = {};
  std::vector<std::string> warnings = {};  // each one sentence
};

// Throws an Error unless the network restores pictures: it must be trained for the posterior, want
// no class labels, and make images of 1 or 3 channels.
void check_restores(const Checkpoint& network, const std::string& name);

// Reads or simulates the measurement, estimates its noise unless that is stated, and restores it,
// on the device of the network. Wrong input is an Error before the network is evaluated.
RestorationResult restore_measurement(const RestorationRequest& request, const Checkpoint& network);

// Restores a measurement in memory, of an image of the network's shape. Of `chosen`, name
// and spec count, for warnings and the report; of the request, all but the file and its operator.
RestorationResult restore_measurement(const Measurement& measurement,
                                      const OperatorChoice& chosen,
                                      const RestorationRequest& request,
                                      const Checkpoint& network);

}  // namespace eps
