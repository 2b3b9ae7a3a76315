// Operators with A A' = g I (pooling, grey, identity): everything follows from apply and adjoint.
#pragma once

#include "eps/operators/converted.h"
#include "eps/operators/operator.h"

namespace eps {

// An `Isometry` has A A' = g I, so that A'A has the eigenvalues g, on the range of A', and 0.
class Isometry : public LinearOperator, public Spectral {
 public:
  // projection_diagonal: the diagonal of A'A / g, in a shape that broadcasts over an image.
  Isometry(double gram, Tensor projection_diagonal)
      : gram_(gram),
        eigenvalues_(at::tensor({gram, 0.0}, at::kDouble).reshape({1, 1, 1, 2})),
        projection_diagonal_(std::move(projection_diagonal)) {}

  // A'(AA' + lambda I)^{-1} r = A' r / (g + lambda)
  Tensor ridge(const Tensor& r, const Tensor& lambda) const override {
    return adjoint(r / (gram_ + per_sample(lambda, r)));
  }

  // f(A'A) x = f(g) P x + f(0) (x - P x) with the projection P = A'A / g.
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return filters(x, {f})[0];
  }
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override {
    const Tensor projected = adjoint(apply(x)) / gram_, rest = x - projected;
    std::vector<Tensor> all;
    for (const EigenvalueMap& f : functions) {
      const auto [at_gram, at_zero] = values(f, x);
      all.push_back(at_gram * projected + at_zero * rest);
    }
    return all;
  }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override {
    const Tensor& exact = projection_diagonal_.exact();
    const Tensor inside = exact.dim() == 0 ? exact : projection_diagonal_.like(like);
    const auto [at_gram, at_zero] = values(f, like);
    return at_gram * inside + at_zero * (1 - inside);
  }
  // Returns the power of the data along the range of A' and along the null space of A, for an A
  // whose rows are all alike. One row gives the mean power over the range; the mean over the null
  // space is what the total leaves.
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override;

 private:
  // Returns f(g) and f(0), each (N or 1, C or 1, 1, 1).
  std::pair<Tensor, Tensor> values(const EigenvalueMap& f, const Tensor& like) const {
    const Tensor e = eigenvalues_.like(like), both = f(e) + at::zeros_like(e);
    return {both.slice(3, 0, 1), both.slice(3, 1, 2)};
  }

  const double gram_;
  const Converted eigenvalues_;  // g and 0
  const Converted projection_diagonal_;
};

}  // namespace eps
