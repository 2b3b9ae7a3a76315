// A copy to a device that does not wait for the device.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the tensor on the device; the tensor itself where it is there already.
inline Tensor upload(const Tensor& tensor, at::Device device) {
  const bool from_host = tensor.is_cpu() && !device.is_cpu();
  return (from_host ? tensor.pin_memory() : tensor).to(device, /*non_blocking=*/from_host);
}

}  // namespace eps
