// A function from outside in place of the layers of a network.
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

// An `ExternalFunction` is F(x; noise, class) of a network whose layers eps does not know.
class ExternalFunction {
 public:
  virtual ~ExternalFunction() = default;
  // Takes what UNet::forward() takes, of checked shapes; undefined class labels are absent ones.
  virtual Tensor forward(const Tensor& x,
                         const Tensor& noise_labels,
                         const Tensor& class_labels) const = 0;
  // Returns the same function on the device, computed in this type.
  virtual std::shared_ptr<const ExternalFunction> to(at::Device device,
                                                     at::ScalarType dtype) const = 0;
};

}  // namespace eps::nets
