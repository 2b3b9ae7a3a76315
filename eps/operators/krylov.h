// Functions of A'A for operators without a fast basis.
#pragma once

#include <mutex>

#include "eps/math/lanczos.h"
#include "eps/operators/operator.h"

namespace eps {

// A `Krylov` computes f(A'A) x by the Lanczos process, and diagonals by probing. It gives every
// direction the same prior power (Spectral::prior_power). Its functions must be smooth on the scale
// of the spectrum: many steps resolve a function that is steep near 0.
class Krylov final : public Spectral {
 public:
  explicit Krylov(const LinearOperator& A) : A_(A) {}  // A must outlive it

  Basis basis() const override { return Basis::other; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override;
  // diagonal() and normal_diagonal() have probes that are sums of impulses kSpacing pixels apart,
  // with signs of a fixed seed. They are exact where no row of f(A'A) reaches so far, and unbiased
  // elsewhere. The diagonal of A'A takes one product a probe, once.
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  Tensor normal_diagonal(const Tensor& like) const override;
  // Returns the mean by Hutchinson's estimator, of a few probes of random signs over all pixels;
  // its relative error is about 1/sqrt(number of pixels).
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override;

  static constexpr int64_t kSpacing = 16;
  // The functions serve the scales of a network's input and output, where errors of this part are
  // far below the network's own; the pivot is solved by itself.
  static constexpr double kTolerance = 1e-3;

 private:
  using Map = std::function<Tensor(const Tensor& probe)>;
  Tensor normal(const Tensor& x) const { return A_.adjoint(A_.apply(x)); }
  Tensor probe_diagonal(const Tensor& like, const Map& map) const;

  const LinearOperator& A_;
  // The space of the last x: c_in x and c_skip x of one evaluation share it.
  mutable std::mutex mutex_;
  mutable Tensor x_;
  mutable std::shared_ptr<Lanczos> space_;
  mutable Tensor normal_diagonal_;
};

}  // namespace eps
