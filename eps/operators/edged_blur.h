// A circular blur whose rows near the border are others: what lies beyond the frame is reflected,
// replicated or 0.
#pragma once

#include "eps/operators/blur.h"
#include "eps/operators/dense_resolvents.h"

namespace eps {

// An `EdgedBlur` is A = H + J D: a circular blur H, and a matrix D that is added to the pixels B of
// y near the border (J puts them there) and reads the pixels C of x near the border only. With U =
// [H_B', D'] A'A is H'H + U K U', K = (0 I; I I), and by Woodbury's formula
//
//   (A'A + s)^{-1} = G - G U S^{-1} U' G,   G = (H'H + s)^{-1},   S = K^{-1} + U' G U,
//
// where G is diagonal in the Fourier basis, and the blocks of U' G U are parts of circulant
// matrices, times D. So ridge() is exact, and functions of A'A are sums of resolvents at fixed
// shifts, whose dense inverses are computed once (eps/operators/dense_resolvents.h).
class EdgedBlur final : public LinearOperator {
 public:
  // A: a map between images of the frame of H whose rows differ from H's at the places B only.
  EdgedBlur(const CircularBlur& H, const LinearOperator& A, const Tensor& B);
  // Returns whether the dense matrices of so many places in B, with two rows for each, are small
  // enough. The blur has one kernel for all images.
  static bool supports(const Tensor& kernel, int64_t places);

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;
  bool closed_form() const override { return true; }

 protected:
  std::unique_ptr<const Spectral> make_functions() const override;

 private:
  class Resolvents;
  Tensor any_image(const Tensor& like) const;  // an image without values: size, type and device
  Tensor dense(const Tensor& shifts) const;    // S of each shift: (shifts, 2 k, 2 k), float64
  Tensor exact_ridge(const Tensor& r, const Tensor& lambda) const;  // lambda: (N or 1), float64
  Tensor into_border(const Tensor& hat) const;  // U' x, (..., 2 k), of the Fourier transform of x
  Tensor from_border(const Tensor& values) const;  // the Fourier transform of U v

  const CircularBlur blur_;                     // H
  const Tensor rows_;                           // B
  Tensor columns_, D_;                          // C, and D at these columns: (k, columns), float64
  const CirculantPart seen_;                    // B x B
  std::optional<CirculantPart> across_, edge_;  // B x C and C x C
};

}  // namespace eps
