// Inference on a CPU: the operations between the convolutions of a block, in one pass over the
// image.
//
// ATen's group norm is slow on channels-last memory, and the sum before it, the scaling and silu
// after it would each read and write the whole image once more. These functions have no gradients.
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

struct FusedNorm {
  int64_t groups = 1;  // 0, for CUDA only: the root mean square over the channels of each pixel
  double eps = 0;
  Tensor weight = {}, bias = {};  // (C)
  Tensor offset = {};             // (N or 1, C), added to x before the norm; or absent
  Tensor modulation = {};         // (N or 1, 2 C), scales and shifts after the norm; or absent
  bool silu = false;
};

// Returns whether the functions accept x: float32 or bfloat16, channels-last, on a CPU.
bool can_fuse(const Tensor& x);

// Returns act((norm(x + offset) * weight + bias) * (1 + scale) + shift). Statistics are float32
// sums over runs of pixels, added in float64: the output for an image depends neither on the other
// images of its batch nor on the number of threads.
Tensor fused_norm(const FusedNorm& norm, const Tensor& x);

// Computes h = (h + x) * scale in place; x has the type and layout of h.
void fused_residual(const Tensor& h, const Tensor& x, double scale);

}  // namespace eps::nets
