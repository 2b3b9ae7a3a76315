// The operators as C++ functions; text specs (eps/task.h) end up here as well.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// Plain denoising, A = I.
Operator identity();

// Keeps the pixels where the mask is 1; y has the shape of x, zero in the holes.
// mask: (N or 1, C or 1, H, W), 0 and 1.
Operator inpainting(const Tensor& mask);

// factor x factor average pooling; H and W must be multiples of factor.
Operator average_pool(int64_t factor);

// Circular convolution, the kernel's origin at index size/2. kernel: (N or 1, kh, kw).
Operator circular_blur(const Tensor& kernel, int64_t height, int64_t width);

// circular_blur, then average_pool, in closed form.
Operator blur_pool(const Tensor& kernel, int64_t height, int64_t width, int64_t factor);

// Weighted sum of the channels. weights: (C).
Operator grey(const Tensor& weights);

// The unitary 2-D Fourier transform of a real image at the frequencies where the mask is 1. Complex
// numbers are pairs: y is (N, C, H, W, 2). mask: (N or 1, H, W) in fft2 order (zero frequency
// first).
Operator subsampled_fourier(const Tensor& mask);

// The orthonormal 2-D Walsh-Hadamard transform of the image times signs, where the mask is 1; H and
// W powers of 2. mask and signs: (N or 1, H, W).
Operator subsampled_hadamard(const Tensor& mask, const Tensor& signs);

// A dense matrix on the flattened image; y is (N, M). matrix: (N or 1, M, C*H*W).
Operator dense_matrix(const Tensor& matrix, const Shape& image);

// second(first(x)).
Operator compose(Operator first, Operator second);

// All measurements of one image of the shape (N, C, H, W), flattened and concatenated: y is (N, M).
Operator stack(const std::vector<Operator>& parts, const Shape& image);

// Kernels, each (kh, kw) in float64 with sum 1.
Tensor gaussian_kernel(double std, int64_t size);
// A straight line of `length` points one pixel apart, centred, turned counter-clockwise by `angle`
// degrees; each point is spread over its four pixels with bilinear weights.
Tensor motion_kernel(int64_t length, double angle);

}  // namespace eps
