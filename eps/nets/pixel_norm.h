// The norm over the channels of each pixel, on a CPU, in one pass over the image each way.
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

// Returns act(x / (mean over channels of x^2 + eps)^(1/2) * slope + intercept), a differentiable
// function of x, for which can_fuse() holds (eps/nets/fused.h), and of slope and intercept, (N or
// 1, C) in float32. act is silu or nothing. The answer for an image depends neither on the other
// images nor on the number of threads.
Tensor pixel_norm(
    const Tensor& x, const Tensor& slope, const Tensor& intercept, double eps, bool silu);

}  // namespace eps::nets
