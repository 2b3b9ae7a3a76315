// The memory of GPUs.
#include "eps/runtime/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

namespace eps {

int64_t available_device_memory(at::Device device) {
  const c10::cuda::CUDAGuard guard(device);
  size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(c10::cuda::current_device());
  const int64_t kept = stats.reserved_bytes[0].current - stats.allocated_bytes[0].current;
  return static_cast<int64_t>(free) + kept;
}

}  // namespace eps
