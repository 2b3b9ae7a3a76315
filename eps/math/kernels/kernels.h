// These kernels compute the proximal maps of the commonest operators in single passes over memory,
// on the CPU.
//
// Every step of every sampler needs the pivot; written with tensor operations it costs several
// passes and allocations. Each function here computes argmin_x |y - A x|^2 + lambda |x - z|^2 for
// contiguous float32 or float64 batches. Anything else (CUDA, autograd, strides) takes the general
// way through tensor operations, which is also the reference in kernels_test.
#pragma once

#include "eps/base/core.h"

namespace eps::kernels {

// Tells whether the functions below apply: same floating dtype, CPU, contiguous, no autograd, and
// as many images in y, maps (1 or N) and lambdas (1 or N) as the functions index.
bool plain(const Tensor& z, const Tensor& y, const Tensor& lambda, int64_t maps);

// Returns lambda of each image: 1 or N numbers.
std::vector<double> values(const Tensor& lambda);

// Solves for inpainting. mask: uint8, (N or 1, 1, H, W).
Tensor mask_proximal(const Tensor& z,
                     const Tensor& y,
                     const Tensor& mask,
                     const std::vector<double>& lambda);

// Solves for s x s average pooling.
Tensor pool_proximal(const Tensor& z,
                     const Tensor& y,
                     int64_t s,
                     const std::vector<double>& lambda);

// A `CircularProximal` solves for circular convolution of heights and widths that are powers of 2,
// at least 16.
class CircularProximal {
 public:
  static bool supports(int64_t height, int64_t width);

  // transfer: complex128 (B, 1, H, W), the full 2-D transform of the kernel, B = 1 or N.
  explicit CircularProximal(const Tensor& transfer);
  Tensor operator()(const Tensor& z, const Tensor& y, const std::vector<double>& lambda) const;

 private:
  // The `Tables` hold, in one precision, the transfer function, (2, B, W, H), real and imaginary
  // part in the order that the transform leaves, and the transform's twiddles, (2, H) and (2, W).
  struct Tables {
    Tensor transfer, rows, columns;
  };
  template <class Real>
  static void run(const Tables& tables,
                  const Tensor& z,
                  const Tensor& y,
                  const std::vector<double>& lambda,
                  const Tensor& out);

  Tables float_, double_;
};

}  // namespace eps::kernels
