// A copy to a device that does not wait for the device.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the tensor on the device; the tensor itself where it is there already.
inline Tensor upload(const Tensor& tensor, at::Device device) {
  if (tensor.device() == device) return tensor;
  return tensor.pin_memory().to(device, /*non_blocking=*/true);
}

}  // namespace eps
