// Operators that act along rows and along columns, each by a matrix: blurs with separable kernels
// and any border, and reductions.
#pragma once

#include "eps/operators/converted.h"
#include "eps/operators/fast_basis.h"

namespace eps {

// A `Separable` maps each channel X to L X R', so that A = L (x) R. With the singular value
// decompositions of the two matrices A'A is diagonal in the basis V_L (x) V_R, its eigenvalues the
// products s_L^2 s_R^2, and every function of it takes four small products of matrices.
class Separable final : public LinearOperator, public FastBasis {
 public:
  using Picture = std::function<Tensor(const Tensor& y)>;
  // rows: (N or 1, H', H), acts along columns of pixels; columns: (N or 1, W', W). picture: y as an
  // image of H x W. parameters: what was drawn or read.
  Separable(const Tensor& rows,
            const Tensor& columns,
            Picture picture,
            std::map<std::string, Tensor> parameters = {});

  Tensor apply(const Tensor& x) const override;
  Tensor adjoint(const Tensor& y) const override;
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override;

  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  bool keeps_channels() const override { return true; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override;

  Tensor picture(const Tensor& y) const override { return picture_(y); }
  std::map<std::string, Tensor> parameters() const override { return parameters_; }
  int64_t batch() const override;

 private:
  // An `Axis` holds the matrix M = U s V' of one axis, each (N or 1, 1, ., .).
  struct Axis {
    explicit Axis(const Tensor& matrix);
    Axis(const Tensor& matrix, const std::tuple<Tensor, Tensor, Tensor>& decomposition);
    Converted matrix;
    Converted ut;     // U', with rows of zeros for the n - rank directions that M does not measure
    Converted v;      // (n, n)
    Tensor singular;  // (n), zeros included
  };
  Tensor into_basis(const Tensor& x) const override;
  Tensor from_basis(const Tensor& coordinates) const override;
  Tensor eigenvalues(const Tensor& like) const override { return eigenvalues_.like(like); }
  // Returns left X right'.
  static Tensor both(const Tensor& left, const Tensor& x, const Tensor& right);

  const Axis rows_, columns_;
  // Products of both axes, (N or 1, 1, H, W); the denominators are the eigenvalues, and 1 where
  // these are 0.
  const Converted singular_, eigenvalues_, denominators_;
  const Picture picture_;
  const std::map<std::string, Tensor> parameters_;
};

}  // namespace eps
