// A user's measurement, and the problem it poses.
#pragma once

#include "eps/io/images/picture.h"
#include "eps/model/checkpoint.h"
#include "eps/restore/noise_model.h"
#include "eps/restore/operator_choice.h"

namespace eps {

// A `NetworkShape` holds the size of a network's images, and its name for messages.
struct NetworkShape {
  std::string name;
  int64_t resolution = 0;  // side of its images; 0: any
  int64_t least = 1;       // side of the smallest image of a network for any size
  int64_t channels = 0;
  at::Device device = at::kCPU;
};
NetworkShape shape_of(const Checkpoint& network, const std::string& name);

// A `Measurement` holds y = A x0 + sigma_y n. A grey image has one channel, also where the network
// takes more.
struct Measurement {
  Problem problem = {};       // batch 1, float64 on the device
  Tensor truth = {};          // (1, C, H, W) on the CPU if simulated; undefined otherwise
  PictureFormat format = {};  // of the picture that was read; the default of an array
  // Where the measurement has less than the frame of the image; a picture of the frame was cut.
  std::optional<Cut> cut = {};
  // The part of the restored image that is to be shown, where that is not all of it: the picture
  // of a valid blur, whose image reaches beyond its frame.
  std::optional<Cut> shown = {};
  // What was taken away from the values of the file, A 1 - 1 of a black border, where y + 1 is
  // A (x + 1) and noise; undefined: nothing.
  Tensor offset = {};
  std::vector<std::string> warnings = {};  // eps/restore/input_hints.h
};

// Reads a picture (8 or 16 bits, of [-1, 1]) or an array in the measurement's own shape, with or
// without the batch. Where a blur is valid, a network for any size restores what lies beyond the
// frame as well; of a picture of the only size that a network takes, the border is cut off: it
// mixes with what lies beyond the frame; less than a quarter left is an Error. K-space, (N, C, H,
// W, 2), may be complex, centred, or 1 x 2 x H x W, the two parts in place of channels. The caller
// sets sigma_y. A measurement that is not of an image of the network's shape and an operator that
// is drawn at random are Errors.
Measurement read_measurement(const std::string& path,
                             const OperatorChoice& chosen,
                             const NetworkShape& network);

// Returns the measurement of an array in memory as read_measurement() does that of a file; `name`
// is for messages.
Measurement measurement_of(const Tensor& array,
                           const std::string& name,
                           const OperatorChoice& chosen,
                           const NetworkShape& network);

// Measures a clean image of the network's size. The seed determines operator and noise, which is
// white unless a model says otherwise.
Measurement simulate_measurement(const std::string& path,
                                 const OperatorChoice& chosen,
                                 double sigma_y,
                                 const NoiseModel& noise,
                                 uint64_t seed,
                                 const NetworkShape& network);

}  // namespace eps
