// Which devices there are.
#pragma once

#include "eps/base/core.h"

namespace eps {

// "auto": the first GPU if there is one, else the CPU; "cpu", "cuda", "cuda:K". A process of
// several on one machine passes its number there: auto and cuda then mean the GPU of that number.
at::Device parse_device(const std::string& text, int64_t local_rank = 0);

// Before networks run on the device: it becomes this thread's, float32 is float32 (1e-7, not TF32's
// 1e-3), float16 products are summed in float32, and cuDNN tries its ways to convolve and keeps the
// fastest.
void prepare_device(at::Device device);

}  // namespace eps
