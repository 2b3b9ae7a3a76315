// Tensors of operators in the type and on the device of the images they meet.
#include "eps/operators/converted.h"

#include <algorithm>

#include "eps/base/lasting.h"

namespace eps {

Tensor Converted::as(at::Device device, at::ScalarType type) const {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.device() == device && tensor.scalar_type() == type;
  };
  if (fits(exact_) && !exact_.is_inference()) return exact_;
  const std::lock_guard lock(last_->mutex);
  std::deque<Tensor>& last = last_->tensors;
  if (const auto found = std::find_if(last.begin(), last.end(), fits); found != last.end())
    return *found;
  constexpr size_t kKept = 2;
  if (last.size() == kKept) last.pop_front();
  const Lasting conversion;
  last.push_back(exact_.to(device, type, /*non_blocking=*/false, /*copy=*/true));
  return last.back();
}

}  // namespace eps
