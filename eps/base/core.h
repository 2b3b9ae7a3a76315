// The basic types and functions of the library: Tensor, Shape, Error and check().
//
// Images are (N, C, H, W) in [-1, 1]. A per-sample scalar is 0-dimensional, shared by the batch, or
// (N, 1, 1, 1), and broadcasts.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eps {

using at::Tensor;
using Shape = std::vector<int64_t>;

// An `Error` reports wrong input from a caller or a user, or a computation that failed. The message
// is one line that names the quantity, its value and what is allowed.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

// Throws an Error with the joined parts unless the condition holds:
//   check(sigma >= 0, "pivot: sigma must be at least 0, got ", sigma);
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

// Returns the shape as text for messages: "3 x 64 x 64".
inline std::string to_string(at::IntArrayRef shape) {
  std::ostringstream text;
  for (size_t i = 0; i < shape.size(); ++i) text << (i ? " x " : "") << shape[i];
  return shape.empty() ? "scalar" : text.str();
}

// Returns a float64 scalar that broadcasts against any tensor, on any device, without a
// synchronisation.
inline Tensor scalar(double value) { return at::scalar_tensor(value, at::kDouble); }

}  // namespace eps
