// The words every other header uses: Tensor, Shape, Error, check(). Also the precompiled header.
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

// Wrong input from a caller or a user, or a computation that failed. The message is one line that
// names the thing, its value and what is wanted.
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

// check(sigma >= 0, "pivot: sigma must be at least 0, got ", sigma);
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

// "3 x 64 x 64", for messages.
inline std::string to_string(at::IntArrayRef shape) {
  std::ostringstream text;
  for (size_t i = 0; i < shape.size(); ++i) text << (i ? " x " : "") << shape[i];
  return shape.empty() ? "scalar" : text.str();
}

// A float64 scalar that broadcasts against anything, on any device, without a synchronisation.
inline Tensor scalar(double value) { return at::scalar_tensor(value, at::kDouble); }

}  // namespace eps
