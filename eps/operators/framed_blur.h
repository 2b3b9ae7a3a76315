// The valid part of a convolution, on frames too large for dense matrices.
#pragma once

#include <atomic>

#include "eps/math/conjugate_gradients.h"
#include "eps/operators/bands.h"
#include "eps/operators/blur.h"

namespace eps {

// A `FramedBlur` is A = M H, H a circular blur on the frame and M a mask that leaves out the rows
// and columns at the frame's border, B. Woodbury's formula inverts A'A + s (eps/operators/
// masked_blur.h) with the matrix
//
//   S = I - H_B G H_B' = the part B x B of the circulant matrix s (H H' + s)^{-1},
//
// which is too large to be factorised here. But B is the union of two bands: some rows, neighbours
// on the torus, over the whole width, and some columns over the whole height. The part of S on one
// band is circulant along it, so that a Fourier transform along the band leaves a small matrix for
// each frequency. One band is eliminated so, and conjugate gradients with the other's inverse take
// a few iterations (eps/operators/bands.h).
//
// ridge() is solved until nothing changes but rounding. proximal(), the pivot, is solved to an
// energy of the error, e'(A'A + lambda) e, of kError^2 times that of the pivot's own noise
// (eps/diffusion/pivot.h).
//
// Functions of A'A are those of H'H, and a sum of corrections for the border, of resolvents at
// fixed shifts (eps/math/partial_fractions.h), each to 1e-2. They serve as scales of a network's
// input and output, not for the pivot, and most shifts have them in single precision.
class FramedBlur final : public LinearOperator {
 public:
  static constexpr double kError = 1e-3;

  // A measures the pixels of the frame from (top, left) on, (height, width) of them.
  struct Inside {
    int64_t top, left, height, width;
  };
  FramedBlur(const CircularBlur& blur, const Inside& inside);
  // Returns whether the blur has one kernel for all images.
  static bool supports(const CircularBlur& blur) { return blur.kernel().size(0) == 1; }

  Tensor apply(const Tensor& x) const override;  // y has the frame of x, zeros in the border
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const override;
  bool closed_form() const override { return true; }

  Tensor picture(const Tensor& y) const override { return y; }
  Tensor measured(const Tensor& y) const override { return y * mask_.like(y); }

  // Returns the iterations of the last ridge() or proximal(), for tests.
  int64_t iterations() const { return iterations_; }

 protected:
  std::unique_ptr<const Spectral> make_functions() const override;

 private:
  class Resolvents;
  // Returns ridge(), with an error whose energy is at most this part of the pivot's own noise's; 0:
  // as small as rounding allows.
  Tensor solve(const Tensor& r, const Tensor& lambda, double energy) const;
  const CircularBlur blur_;
  const Inside inside_;
  const Converted mask_;  // (1, 1, H, W)
  const Bands bands_;     // B
  mutable std::atomic<int64_t> iterations_ = 0;
};

}  // namespace eps
