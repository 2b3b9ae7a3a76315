// Proximal maps of the commonest operators as single passes over memory, on the CPU.
//
// The pivot is asked for at every step of every sampler; written with tensor operations it costs
// several passes and allocations. Each function here computes argmin_x |y - A x|^2 + lambda |x -
// z|^2 for contiguous float32 or float64 batches. Anything else (CUDA, autograd, strides) takes the
// general way through tensor operations, which also says what the right answer is (kernels_test).
#pragma once

#include "eps/base/core.h"

namespace eps::kernels {

// May the functions below be used: same floating dtype, CPU, contiguous, no autograd, and as many
// images in y, maps (1 or N) and lambdas (1 or N) as they index?
bool plain(const Tensor& z, const Tensor& y, const Tensor& lambda, int64_t maps);

// lambda of each image: 1 or N numbers.
std::vector<double> values(const Tensor& lambda);

// mask: uint8, (N or 1, 1, H, W).
Tensor mask_proximal(const Tensor& z,
                     const Tensor& y,
                     const Tensor& mask,
                     const std::vector<double>& lambda);

// s x s average pooling.
Tensor pool_proximal(const Tensor& z,
                     const Tensor& y,
                     int64_t s,
                     const std::vector<double>& lambda);

// Circular convolution, for heights and widths that are powers of 2, at least 16.
class CircularProximal {
 public:
  static bool supports(int64_t height, int64_t width);

  // transfer: complex128 (B, 1, H, W), the full 2-D transform of the kernel, B = 1 or N.
  explicit CircularProximal(const Tensor& transfer);
  Tensor operator()(const Tensor& z, const Tensor& y, const std::vector<double>& lambda) const;

 private:
  // In one precision: the transfer function, (2, B, W, H), real and imaginary part in the order
  // that the transform leaves; and the transform's twiddles, (2, H) and (2, W).
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
