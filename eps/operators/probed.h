// Diagonals of functions of A'A by probing, for operators without a fast basis.
#pragma once

#include <mutex>

#include "eps/operators/operator.h"

namespace eps {

// A `Probed` knows f(A'A) by its products with images, and finds diagonals by probes: sums of
// impulses kSpacing pixels apart, with signs of a fixed seed. They are exact where no row of f(A'A)
// reaches so far, and unbiased elsewhere. It gives every direction the same prior power
// (Spectral::prior_power).
class Probed : public Spectral {
 public:
  explicit Probed(const LinearOperator& A) : A_(A) {}  // A must outlive it

  Basis basis() const override { return Basis::other; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  // Returns the diagonal of A'A, which takes one product a probe, once.
  Tensor normal_diagonal(const Tensor& like) const override;
  // Returns the mean by Hutchinson's estimator, of a few probes of random signs over all pixels;
  // its relative error is about 1/sqrt(number of pixels).
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override;

  static constexpr int64_t kSpacing = 16;

 protected:
  Tensor normal(const Tensor& x) const { return A_.adjoint(A_.apply(x)); }
  // Returns f(A'A) x to the accuracy of diagonals.
  virtual Tensor probe(const Tensor& x, const EigenvalueMap& f) const { return filter(x, f); }

 private:
  using Map = std::function<Tensor(const Tensor& probe)>;
  Tensor probe_diagonal(const Tensor& like, const Map& map) const;

  const LinearOperator& A_;
  mutable std::mutex mutex_;
  mutable Tensor normal_diagonal_;
};

}  // namespace eps
