// Functions of A'A for operators without a fast basis.
#pragma once

#include "eps/operators/probed.h"

namespace eps {

// A `Krylov` computes f(A'A) x as a sum of resolvents (eps/math/partial_fractions.h), which shifted
// conjugate gradients solve together. Functions that vary on the scale e of eigenvalues take some
// (|A|^2/e)^(1/2) products.
class Krylov final : public Probed {
 public:
  using Probed::Probed;

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return filters(x, {f})[0];
  }
  // The iterations of all functions are those of the one that takes the most.
  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override;

  // The functions serve the scales of a network's input and output, where relative errors of this
  // size, of the fractions and of the iterations each, are far below the network's own. The pivot
  // is solved by itself.
  static constexpr double kTolerance = 1e-3;
  // Iterations that may err by more than the tolerance are an Error, and fractions by more than
  // this.
  static constexpr double kAcceptableFit = 5e-3;

 private:
  double largest_eigenvalue(const Tensor& like) const;

  mutable std::mutex mutex_;
  mutable double largest_ = 0;
};

}  // namespace eps
