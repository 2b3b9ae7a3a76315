// The operator that made a measurement, chosen by a user's options.
#pragma once

#include "eps/operators/border.h"
#include "eps/operators/task.h"

namespace eps {

// The `OperatorOptions` are the ways in which a user can give an operator; exactly one must be set.
struct OperatorOptions {
  std::string mask = {};      // a file: white or 1 is measured
  std::string kernel = {};    // a file: a blur with this kernel, origin at size/2
  bool flip_kernel = false;   // turn the kernel by 180 degrees: a program correlated with it
  std::string motion = {};    // "LENGTH,ANGLE" of a motion blur, in pixels and degrees
  std::string gaussian = {};  // the standard deviation of a Gaussian blur, in pixels
  std::string disk = {};      // the radius of a lens blur, in pixels
  std::string bayer = {};     // the pattern of a camera's colour filters: "rggb"
  bool denoise = false;       // the picture is only noisy
  // What lies beyond the frame of the blurs above (eps/operators/border.h), or "black" for a zero
  // border of values in which black is 0; "": nothing is known, and y is the valid part, but
  // circular where a clean image is measured first. The same holds of a blur in `spec` that names
  // no border.
  std::string border = {};
  std::string downscale = {};  // K: each pixel is the mean of K x K; "K,FILTER": as Pillow does it
  std::string spec = {};       // any operator or task
  bool centred = false;        // k-space has its zero frequency in the middle, not first
  // In place of the files above, of a program; mask and kernel are then their names in messages.
  Tensor mask_values = {}, kernel_values = {};
};

// An `OperatorChoice` is the operator that made a measurement, ready to be drawn.
struct OperatorChoice {
  std::string name;  // of the registered operator; a composition's spec
  std::string spec;  // for people: a file name may hold characters that no spec can
  Draw draw = {};
  bool is_random = false;             // two seeds may draw two operators
  bool from_file = false;             // its values are in the file, not in the spec
  bool is_given = false;              // as it is, by a program: y is A x and white noise
  std::string mask = {};              // the file of a mask over the image
  bool centred = false;               // OperatorOptions::centred
  std::optional<Border> border = {};  // of a blur; valid: the frame of y is smaller
  bool is_black = false;  // beyond the frame lies black, -1, where the operator has zeros
  int64_t measurement_dims = 4;
  std::function<Shape(const Shape& y)> image_shape = {};
};

// Returns the operator for images of this side; 0: of any. None or several options are an Error.
// simulate: a clean image is measured first.
OperatorChoice choose_operator(const OperatorOptions& options, int64_t side, bool simulate = false);

// Returns the border of a blur's spec; none of another operator.
std::optional<Border> border_in(const std::string& spec);

}  // namespace eps
