// A user's measurement: the operator that made it, chosen by options, and the problem it poses.
#pragma once

#include "eps/model/checkpoint.h"
#include "eps/operators/border.h"
#include "eps/operators/task.h"
#include "eps/restore/noise_model.h"

namespace eps {

// The `OperatorOptions` are the ways in which a user can give an operator; exactly one must be set.
struct OperatorOptions {
  std::string mask = {};      // a file: white or 1 is measured
  std::string kernel = {};    // a file: a blur with this kernel, origin at size/2
  bool flip_kernel = false;   // turn the kernel by 180 degrees: a program correlated with it
  std::string motion = {};    // "LENGTH,ANGLE" of a motion blur, in pixels and degrees
  std::string gaussian = {};  // the standard deviation of a Gaussian blur, in pixels
  std::string disk = {};      // the radius of a lens blur, in pixels
  // What lies beyond the frame of the blurs above (eps/operators/border.h), or "black" for a zero
  // border of values in which black is 0; "": nothing is known, and y is the valid part, but
  // circular where a clean image is measured first. The same holds of a blur in `spec` that names
  // no border.
  std::string border = {};
  std::string downscale = {};  // K: each pixel is the mean of K x K; "K,FILTER": as Pillow does it
  std::string spec = {};       // any operator or task
  bool centred = false;        // k-space has its zero frequency in the middle, not first
};

// An `OperatorChoice` is the operator that made a measurement, ready to be drawn.
struct OperatorChoice {
  std::string name;  // of the registered operator; a composition's spec
  std::string spec;  // for people: a file name may hold characters that no spec can
  Draw draw = {};
  bool is_random = false;             // two seeds may draw two operators
  bool from_file = false;             // its values are in the file, not in the spec
  std::string mask = {};              // the file of a mask over the image
  bool centred = false;               // OperatorOptions::centred
  std::optional<Border> border = {};  // of a blur; valid: the frame of y is smaller
  bool is_black = false;  // beyond the frame lies black, -1, where the operator has zeros
  int64_t measurement_dims = 4;
  std::function<Shape(const Shape& y)> image_shape = {};
};

// Returns the operator for images of this side. None or several options are an Error. simulate: a
// clean image is measured first.
OperatorChoice choose_operator(const OperatorOptions& options, int64_t side, bool simulate = false);

// A `NetworkShape` holds the size of a network's images, and its name for messages.
struct NetworkShape {
  std::string name;
  int64_t resolution = 0;
  int64_t channels = 0;
  at::Device device = at::kCPU;
};
NetworkShape shape_of(const Checkpoint& network, const std::string& name);

// A `Measurement` holds y = A x0 + sigma_y n. A grey image has one channel, also where the network
// takes more.
struct Measurement {
  Problem problem = {};  // batch 1, float64 on the device
  Tensor truth = {};     // (1, C, H, W) on the CPU if simulated; undefined otherwise
  // Where the measurement has less than the frame of the image; a picture of the frame was cut.
  std::optional<Cut> cut = {};
  // What was taken away from the values of the file: A 1 - 1 of a black border, as y + 1 = A (x +
  // 1)
  // + noise; undefined: nothing.
  Tensor offset = {};
  std::vector<std::string> warnings = {};  // eps/restore/input_hints.h
};

// Reads a picture (8 bits, of [-1, 1]) or an array in the measurement's own shape, with or without
// the batch. Of a picture of the network's size whose blur is valid, the border is cut off: it
// mixes with what lies beyond the frame; less than a quarter left is an Error. K-space, (N, C, H,
// W, 2), may be complex, centred, or 1 x 2 x H x W, the two parts in place of channels. The caller
// sets sigma_y. A measurement that is not of an image of the network's shape and an operator that
// is drawn at random are Errors.
Measurement read_measurement(const std::string& path,
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
