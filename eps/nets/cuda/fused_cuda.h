// The operations between the convolutions of a block on CUDA: fused kernels for inference and
// training.
//
// Images are channels-last. ATen has no kernel for group norm in that layout, and the sums,
// products and silu around it would each read and write the whole image once more, as would the
// bias of each convolution. These functions are differentiable once.
#pragma once

#include "eps/nets/fused.h"

namespace eps::nets {

// Returns whether the library was built with these kernels.
bool has_cuda_kernels();

// Returns whether the kernels accept x: float32, float16 or bfloat16 on CUDA, channels-last, its
// channels a multiple of 4 (float32) or 8 and at most 2048.
bool can_fuse_on_cuda(const Tensor& x);

// The most channels of a norm of pixels.
constexpr int64_t kWidestPixelNorm = 512;

// A `CudaDropout` keeps each output of silu with probability `keep`, divided by `keep`, and sets
// the others to 0.
struct CudaDropout {
  double keep = 1;          // rounded to a multiple of 2^-16
  at::Generator generator;  // CUDA's; may be undefined when keep is 1
};

// Computes fused_norm() in the type of x. The tables may have other types than x; their gradients
// have the types of the tables. Statistics and gradients of tables are float32 sums that are added
// in float64, always in the same order.
Tensor cuda_norm(const FusedNorm& norm, const Tensor& x, const CudaDropout& dropout = {});

// Returns (h + x + bias) * scale; h and x have the same type and layout, bias is (C) or absent. May
// overwrite h where no gradients are required.
Tensor cuda_residual(const Tensor& h, const Tensor& x, const Tensor& bias, double scale);

}  // namespace eps::nets
