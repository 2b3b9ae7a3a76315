// Inference on a CPU: what a block does between its convolutions, in one pass over the image.
//
// ATen's group norm is slow on channels-last memory, and the sum before it, the scaling and silu
// behind it would each read and write the whole image once more. No gradients flow through these.
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

struct FusedNorm {
  int64_t groups = 1;
  double eps = 0;
  Tensor weight = {}, bias = {};  // (C)
  Tensor offset = {};             // (N or 1, C), added to x before; or absent
  Tensor modulation = {};         // (N or 1, 2 C), the scales and the shifts after; or absent
  bool silu = false;
};

// Whether x can be taken: float32 or bfloat16, channels-last, on a CPU.
bool can_fuse(const Tensor& x);

// act((norm(x + offset) * weight + bias) * (1 + scale) + shift), statistics in float32 sums over
// runs of pixels that are joined in float64: an image's answer depends neither on the others in its
// batch nor on the number of threads.
Tensor fused_norm(const FusedNorm& norm, const Tensor& x);

// h = (h + x) * scale, in place; both like h.
void fused_residual(const Tensor& h, const Tensor& x, double scale);

}  // namespace eps::nets
