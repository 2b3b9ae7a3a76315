// A measurement in a file restored by a network, from the file to the report: `eps restore` for
// programs.
//
//   const eps::Checkpoint network = eps::read_checkpoint(eps::find_model("faces64-eps"));
//   const eps::RestorationResult result = eps::restore_measurement(
//       {.input = "y.png", .operator_options = {.mask = "mask.png"}}, network);
//   eps::write_picture("mean.png", result.restoration.mean, result.measurement.format);
#pragma once

#include <optional>

#include "eps/restore/measurement.h"
#include "eps/restore/restoration_report.h"

namespace eps {

inline constexpr double kSimulatedNoise = 0.05;  // sigma_y, where none is given

// The noise level of the one evaluation of a quick restoration, but for masks: x_t tells 1/1600 of
// the variance of x0 there, and networks answer better than at the samplers' first level of 80.
// Large holes they fill better at that.
inline constexpr double kQuickNoise = 20;

// Samples of an image, and of a large one: a picture of more than kLarge pixels. On a CPU its
// samples take kLargeSteps steps of a trained method.
inline constexpr int64_t kSamples = 8, kLargeSamples = 4, kLarge = 256 * 256, kLargeSteps = 10;

// A `RestorationRequest` names a measurement and the way to restore it.
struct RestorationRequest {
  std::string input = {};  // file of the measurement, or of a clean image to be measured first
  OperatorOptions operator_options = {};
  bool simulate = false;               // `input` is a clean image
  std::optional<double> sigma_y = {};  // of the measurement; none: estimated, or kSimulatedNoise
  NoiseModel noise = {};  // where one number does not describe it: sigma_y is not set then, but for
                          // noise that grows with the signal
  std::string network = "the network";  // its name, for the report and for messages
  // "pigdm" or "dps:scale=5", with the values of the operator's kind where none are given; empty:
  // the method that the network was trained for.
  std::string method = {};
  int64_t steps = 0;  // of the method; 0: as many as it has, 20 for a trained one, 10 of large
                      // pictures on a CPU
  // Its `channels` is the network's in any case. No samples: kSamples, fewer of large pictures.
  RestorationOptions options = {};
  // Restores the holes of a mask by windows around them (eps/restore/holes.h), which leaves
  // measured pixels as they are: always, never, or where the picture is large, the network local,
  // the noise of one deviation, and the windows have less than half of the pixels.
  enum class Region { automatic, holes, whole } region = Region::automatic;
  // One evaluation: the mean of the posterior without samples, intervals or tests. The noise, if
  // it is not stated, is that of the finest detail.
  bool quick = false;
  // The function is called before the evaluations for the noise, those for the samples and those
  // for a flipped kernel, with their name and their largest number.
  // RestorationOptions::on_evaluation counts them.
  std::function<void(const std::string& name, int64_t total)> on_stage = {};
  std::function<void(const std::string& warning)> on_warning = {};  // at once
};

// A `RestorationResult` holds a measurement, its restoration and the report.
struct RestorationResult {
  Measurement measurement = {};
  Restoration restoration = {};
  RestorationReport report = {};
  std::vector<std::string> warnings = {};  // each one sentence
};

// Throws an Error unless the network restores pictures: it must be trained for the posterior, or
// for the input of the method if one is given, need no class labels, and make images of 1 or 3
// channels.
void check_restores(const Checkpoint& network,
                    const std::string& name,
                    const std::string& method = "");

// Reads or simulates the measurement, estimates its noise unless that is stated, and restores it,
// on the device of the network. Wrong input is an Error before the network is evaluated. Only a
// network trained for the posterior can estimate the noise.
RestorationResult restore_measurement(const RestorationRequest& request, const Checkpoint& network);

// Restores a measurement in memory, of an image of the network's shape. The name and spec of
// `chosen` serve warnings and the report; the request's file and operator do not count.
RestorationResult restore_measurement(const Measurement& measurement,
                                      const OperatorChoice& chosen,
                                      const RestorationRequest& request,
                                      const Checkpoint& network);

}  // namespace eps
