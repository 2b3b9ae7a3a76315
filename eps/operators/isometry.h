// Operators with A A' = g I (pooling, grey, identity): everything follows from apply and adjoint.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// A'A has the eigenvalues g, on the range of A', and 0.
class Isometry : public LinearOperator, public Spectral {
 public:
  // The diagonal of A'A / g broadcasts over an image.
  Isometry(double gram, Tensor projection_diagonal)
      : gram_(gram), projection_diagonal_(std::move(projection_diagonal)) {}

  // A'(AA' + lambda I)^{-1} r = A' r / (g + lambda)
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return adjoint(r / (gram_ + per_sample(lambda, r)));
  }

  // f(A'A) x = f(g) P x + f(0) (x - P x) with the projection P = A'A / g.
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::isometry; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Tensor projected = adjoint(apply(x)) / gram_;
    return at_gram(f, x) * projected + at_zero(f, x) * (x - projected);
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const Tensor inside = projection_diagonal_.dim() == 0 ? projection_diagonal_
                                                          : projection_diagonal_.to(like.options());
    return at_gram(f, like) * inside + at_zero(f, like) * (1 - inside);
  }
  // The power along the range and along the null space of A, where all rows of A are alike: the
  // mean of the data's power over the first, from one row, and over the second what is left of the
  // total.
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override;

 private:
  Tensor at_gram(const EigenvalueMap& f, const Tensor& like) const {
    return f(at::full({1, 1, 1, 1}, gram_, like.options()));
  }
  static Tensor at_zero(const EigenvalueMap& f, const Tensor& like) {
    return f(at::zeros({1, 1, 1, 1}, like.options()));
  }

  const double gram_;
  const Tensor projection_diagonal_;
};

}  // namespace eps
