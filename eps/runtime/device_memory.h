// The memory of GPUs.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the bytes that are free on the GPU, and those that libtorch keeps for reuse.
int64_t available_device_memory(at::Device device);

}  // namespace eps
