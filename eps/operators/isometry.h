// Operators with A A' = g I (pooling, grey, identity): everything follows from apply and adjoint.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// An `Isometry` has A A' = g I, so that A'A has the eigenvalues g, on the range of A', and 0.
class Isometry : public LinearOperator, public Spectral {
 public:
  // projection_diagonal: the diagonal of A'A / g, in a shape that broadcasts over an image.
  Isometry(double gram, Tensor projection_diagonal)
      : gram_(gram), projection_diagonal_(std::move(projection_diagonal)) {}

  // A'(AA' + lambda I)^{-1} r = A' r / (g + lambda)
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return adjoint(r / (gram_ + per_sample(lambda, r)));
  }

  // f(A'A) x = f(g) P x + f(0) (x - P x) with the projection P = A'A / g.
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Tensor projected = adjoint(apply(x)) / gram_;
    return at_gram(f, x) * projected + at_zero(f, x) * (x - projected);
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const Tensor inside = projection_diagonal_.dim() == 0 ? projection_diagonal_
                                                          : projection_diagonal_.to(like.options());
    return at_gram(f, like) * inside + at_zero(f, like) * (1 - inside);
  }
  // Returns the power of the data along the range of A' and along the null space of A, for an A
  // whose rows are all alike. One row gives the mean power over the range; the mean over the null
  // space is what the total leaves.
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
