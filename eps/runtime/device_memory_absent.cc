// The memory of GPUs, for a library built without a CUDA compiler: their size is not known.
#include "eps/runtime/device_memory.h"

namespace eps {

int64_t available_device_memory(at::Device) { return int64_t{4} << 30; }

}  // namespace eps
