// Operators with A A' = g I (pooling, grey, identity): everything follows from apply and adjoint.
#pragma once

#include "eps/operator.h"

namespace eps {

// A'A has the eigenvalues g, on the range of A', and 0.
class Isometry : public LinearOperator {
 public:
  explicit Isometry(double gram) : gram_(gram) {}

  // A'(AA' + lambda I)^{-1} r = A' r / (g + lambda)
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return adjoint(r / (gram_ + per_sample(lambda, r)));
  }

  // f(A'A) x = f(g) P x + f(0) (x - P x) with the projection P = A'A / g.
  Basis basis() const override { return Basis::isometry; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    const Tensor at_zero = f(at::zeros({1, 1, 1, 1}, x.options()));
    const Tensor at_gram = f(at::full({1, 1, 1, 1}, gram_, x.options()));
    const Tensor projected = adjoint(apply(x)) / gram_;
    return at_gram * projected + at_zero * (x - projected);
  }

 private:
  const double gram_;
};

}  // namespace eps
