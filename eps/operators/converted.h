// Tensors of operators in the type and on the device of the images they meet.
#pragma once

#include <deque>
#include <mutex>

#include "eps/base/core.h"

namespace eps {

// A `Converted` holds a tensor and its last two conversions, so that a trajectory, whose states and
// networks have two types, converts it once for each. It gives the same tensor as long as the
// images have these types and one device, and what is computed from that tensor may be kept, too.
class Converted {
 public:
  explicit Converted(Tensor exact) : exact_(std::move(exact)), last_(std::make_shared<Last>()) {}

  const Tensor& exact() const { return exact_; }
  // Returns the tensor with the type and the device of an image.
  Tensor like(const Tensor& image) const { return as(image.device(), image.scalar_type()); }
  Tensor as(at::Device device, at::ScalarType type) const;

 private:
  struct Last {
    std::mutex mutex;
    std::deque<Tensor> tensors;
  };
  Tensor exact_;
  std::shared_ptr<Last> last_;
};

}  // namespace eps
