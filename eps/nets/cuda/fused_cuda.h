// What a block does between its convolutions, on CUDA: fused kernels, for inference and training.
//
// Images are channels-last. ATen has no kernel for group norm in that layout, and the sums,
// products and silu around it would each read and write the whole image once more, as would the
// bias of each convolution. All of this is differentiable once.
#pragma once

#include "eps/nets/fused.h"

namespace eps::nets {

// Whether the library was built with these kernels.
bool has_cuda_kernels();

// Whether x can be taken: float32, float16 or bfloat16 on CUDA, channels-last, its channels a
// multiple of 4 (float32) or 8 and at most 2048.
bool can_fuse_on_cuda(const Tensor& x);

// After silu each number is kept, and divided by `keep`, with that probability, and is else 0.
struct CudaDropout {
  double keep = 1;          // to a multiple of 2^-16
  at::Generator generator;  // CUDA's; may be undefined when all are kept
};

// As fused_norm(), in the type of x. The tables may have other types than x; gradients reach them
// in their own. Statistics and tables' gradients are made in float32 sums that are joined in
// float64, always in the same order.
Tensor cuda_norm(const FusedNorm& norm, const Tensor& x, const CudaDropout& dropout = {});

// (h + x + bias) * scale; h and x alike, bias (C) or absent. May overwrite h where no gradients are
// wanted.
Tensor cuda_residual(const Tensor& h, const Tensor& x, const Tensor& bias, double scale);

}  // namespace eps::nets
