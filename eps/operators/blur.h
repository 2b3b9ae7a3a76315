// Circular convolution, diagonal in the Fourier basis. `CircularBlur` has a header because
// blur_pool builds on the class.
#pragma once

#include <optional>

#include "eps/base/spec.h"
#include "eps/math/kernels/kernels.h"
#include "eps/operators/converted.h"
#include "eps/operators/fast_basis.h"

namespace eps {

// Throws an Error unless kernels are N x kh x kw and fit the image.
// Refuses a square kernel larger than the image, before memory is taken for a kernel of any size.
void check_kernel_fits(int64_t size, int64_t height, int64_t width);
void check_kernel(const Tensor& kernel, int64_t height, int64_t width);

class CircularBlur final : public LinearOperator, public FastBasis {
 public:
  CircularBlur(const Tensor& kernel, int64_t height, int64_t width);

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override;
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::fourier; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor&) const override {
    return [spectrum](const Tensor&) { return spectrum; };
  }
  Tensor picture(const Tensor& y) const override { return y; }
  std::map<std::string, Tensor> parameters() const override { return {{"kernel", kernel_}}; }
  int64_t batch() const override { return kernel_.size(0); }

  const Tensor& kernel() const { return kernel_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Returns the transfer function h, (N or 1, 1, H, W/2 + 1), in the complex dtype that goes with
  // `like`.
  Tensor transfer(const Tensor& like) const;
  Tensor power(const Tensor& like) const;  // |h|^2, the eigenvalues of A'A

 private:
  Tensor into_basis(const Tensor& x) const override;
  Tensor from_basis(const Tensor& coordinates) const override;
  Tensor eigenvalues(const Tensor& like) const override { return power(like); }

  const Tensor kernel_;  // (N or 1, kh, kw)
  const int64_t height_, width_;
  const Converted transfer_;  // complex128
  const Converted power_;     // |h|^2
  const Converted padded_;    // |h|^2, and 1 where it is 0
  std::optional<kernels::CircularProximal> fast_proximal_;
};

// Returns the Gaussian kernels of a spec, one for each image where `std` is a range and one for all
// otherwise.
Tensor gaussian_kernels(const Spec& spec, const Tensor& like, Rng& rng);

}  // namespace eps
