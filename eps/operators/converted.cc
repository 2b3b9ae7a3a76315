// Tensors of operators in the type and on the device of the images they meet.
#include "eps/operators/converted.h"

#include "eps/base/lasting.h"

namespace eps {

Tensor Converted::as(at::Device device, at::ScalarType type) const {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.defined() && tensor.device() == device && tensor.scalar_type() == type;
  };
  if (fits(exact_) && !exact_.is_inference()) return exact_;
  const std::lock_guard lock(last_->mutex);
  if (!fits(last_->tensor)) {
    const Lasting conversion;
    last_->tensor = exact_.to(device, type, /*non_blocking=*/false, /*copy=*/true);
  }
  return last_->tensor;
}

}  // namespace eps
