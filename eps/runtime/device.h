// The choice and preparation of a device.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the device of "auto" (the first GPU if there is one, else the CPU), "cpu", "cuda" or
// "cuda:K". One of several processes on a machine passes its local rank: auto and cuda then mean
// the GPU of that number.
at::Device parse_device(const std::string& text, int64_t local_rank = 0);

// Prepares the device for networks: makes it the current device of this thread, computes float32
// products in float32 (errors of 1e-7, not 1e-3 as in TF32), sums float16 products in float32, and
// lets cuDNN time its convolution algorithms and keep the fastest.
void prepare_device(at::Device device);

}  // namespace eps
