// A circular blur of which only some pixels were kept: blur, then a mask; and the valid part of a
// convolution.
#pragma once

#include "eps/operators/blur.h"
#include "eps/operators/dense_resolvents.h"

namespace eps {

// A `MaskedBlur` is A = M H, H a circular blur and M a mask. Neither basis diagonalises A'A = H'H -
// H_B'H_B, where the rows B are left out. But H'H + s I is inverted by a Fourier transform, and so
// A'A + s I by Woodbury's formula, with one dense matrix of the size of B,
//
//   (A'A + s)^{-1} = G + G H_B' S^{-1} H_B G,   G = (H'H + s)^{-1},   S = I - H_B G H_B',
//
// where S is the part B x B of the circulant matrix s (H H' + s)^{-1}. Where fewer rows are kept
// than left out, A'(AA' + s)^{-1} r has the dense matrix instead, the part of H H' + s that was
// kept. So ridge() is exact, and functions of A'A are sums of resolvents at fixed shifts, whose
// dense inverses are computed once (eps/math/partial_fractions.h).
class MaskedBlur final : public LinearOperator {
 public:
  // mask: (1, 1, H, W), 0 and 1. The blur has one kernel for all images.
  MaskedBlur(const CircularBlur& blur, const Tensor& mask);
  // Returns whether the dense matrices are small enough: what iterations are for otherwise.
  static bool supports(const CircularBlur& blur, const Tensor& mask);

  Tensor apply(const Tensor& x) const override;  // y has the frame of x, zeros in the holes
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  bool closed_form() const override { return places_.numel() > 0; }

  Tensor picture(const Tensor& y) const override { return y; }
  Tensor measured(const Tensor& y) const override { return y * mask_.to(y.options()); }
  std::map<std::string, Tensor> parameters() const override;

 protected:
  std::unique_ptr<const Spectral> make_functions() const override;

 private:
  class Resolvents;
  // Returns S, or the part of H H' + s, of each shift: (shifts, k, k), float64.
  Tensor dense(const Tensor& shifts) const;
  Tensor exact_ridge(const Tensor& r, const Tensor& lambda) const;  // lambda: (N or 1), float64

  const CircularBlur blur_;
  const Tensor mask_;    // float64
  const bool left_out_;  // whether the dense matrices are of the rows left out
  const Tensor places_;  // of the rows of the dense matrices
  const CirculantPart part_;
};

}  // namespace eps
