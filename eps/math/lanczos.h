// The Lanczos process (Lanczos 1950): functions of symmetric matrices that are known by their
// products with vectors.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct LanczosOptions {
  double tolerance = 1e-6;  // of |f(M) b|, for the error that the last steps suggest
  int64_t max_steps = 300;
  double acceptable = 0;  // a larger error than the tolerance that is accepted after max_steps
};

// A `Lanczos` holds the Krylov space of a symmetric positive semidefinite matrix M and a vector b,
// one of each for every sample: an orthonormal basis V and the tridiagonal T = V' M V. In it f(M) b
// is |b| V f(T) e_1, which is exact once the space is invariant, and converges as fast as the best
// polynomial approximates f on the spectrum. Several functions share one space.
class Lanczos {
 public:
  using Product = std::function<Tensor(const Tensor&)>;
  using Function = std::function<Tensor(const Tensor& eigenvalue)>;

  // `product` maps a batch u, (N, ...), to the batch M u, and must outlive the process. The space
  // is computed in the dtype of b.
  Lanczos(Product product, const Tensor& b, const LanczosOptions& options = {});

  // Returns f(M) b. f maps eigenvalues, (N, 1, ..., 1, m), float64, and must be finite at 0 as
  // well. A sample is done when four more steps change its f(M) b by no more than the tolerance,
  // whatever its neighbours do and however far the space has grown for another function. Samples
  // that are not done after max_steps are an Error.
  Tensor operator()(const Function& f);

  int64_t steps() const { return static_cast<int64_t>(diagonal_.size()); }

 private:
  void step();
  Tensor coefficients(const Function& f, int64_t m) const;  // f(T) e_1 after m steps, (N, m)

  const Product product_;
  const LanczosOptions options_;
  Tensor norm_;                            // |b|, (N), float64
  Tensor basis_;                           // (N, room, n): steps() + 1 rows are filled
  std::vector<Tensor> diagonal_, beside_;  // of T, (N), float64
  const Shape shape_;                      // of b
};

}  // namespace eps
