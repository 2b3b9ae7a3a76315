// Diagonals of functions of A'A by probing, for operators without a fast basis.
#pragma once

#include <mutex>

#include "eps/operators/operator.h"

namespace eps {

// Returns +1 and -1 of a fixed seed, one for each pixel and channel of images (N, C, H, W), the
// same for all images: (1, C, H, W).
Tensor random_signs(const Tensor& like, uint64_t seed = 0);

// A `Probed` knows f(A'A) by its products with images, and finds diagonals by probes: sums of
// impulses kSpacing pixels apart, with signs of a fixed seed. They are exact where no row of f(A'A)
// reaches so far, and unbiased elsewhere.
class Probed : public Spectral {
 public:
  explicit Probed(const LinearOperator& A) : A_(A) {}  // A must outlive it

  Basis basis() const override { return Basis::other; }
  Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  // Returns f(c d) for the diagonal d of A'A and the c in (0, 1] that gives it the mean
  // mean_eigenvalue(): f(d) itself is too small, since f is convex (Jensen).
  Tensor quick_diagonal(const Tensor& like, const EigenvalueMap& f) const override;
  // Returns the diagonal of A'A, which takes one product a probe, once.
  Tensor normal_diagonal(const Tensor& like) const override;
  // Returns the mean by Hutchinson's estimator, of one to four probes of random signs over all
  // pixels; its relative error is about 1/sqrt(number of pixels).
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override;

  // Returns the prior power as a smooth function p(e) of the eigenvalue: the mean power of the data
  // along eigendirections of about that eigenvalue. It is exact where all directions of an
  // eigenvalue have the same power (masks, pooling), and near where power and eigenvalue both fall
  // with frequency (blurs). Its curve, ln p of second degree in ln(e/|A|^2 + 1e-3), is fitted to
  // the spectral measures of a few white probes and of probes with the data's spectrum.
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override;

  static constexpr int64_t kSpacing = 16;

 protected:
  Tensor normal(const Tensor& x) const { return A_.adjoint(A_.apply(x)); }

  const LinearOperator& A_;

 private:
  using Map = std::function<Tensor(const Tensor& probe)>;
  Tensor probe_diagonal(const Tensor& like, const Map& map) const;
  // A `PowerCurve` is p(e) of each map of the operator.
  struct PowerCurve {
    Tensor coefficients;  // (maps, 1, 1, 3) of ln p, the constant first
    Tensor largest;       // (maps, 1, 1, 1): |A|^2
  };
  PowerCurve fit_power(const Tensor& spectrum, const Tensor& like) const;

  mutable std::mutex mutex_;
  mutable Tensor normal_diagonal_;
};

}  // namespace eps
