// Functions of A'A by shifted conjugate gradients.
#include "eps/operators/krylov.h"

#include <algorithm>

#include "eps/math/partial_fractions.h"
#include "eps/math/shifted_conjugate_gradients.h"
#include "eps/operators/norm.h"

namespace eps {

double Krylov::largest_eigenvalue(const Tensor& like) const {
  const std::lock_guard lock(mutex_);
  // Power iteration comes from below; functions vary little above the largest eigenvalue.
  constexpr double kSafety = 1.2;
  if (largest_ == 0)
    largest_ =
        std::max(kSafety * squared_norm(A_, like.to(at::kDouble)).max().item<double>(), 1e-12);
  return largest_;
}

std::vector<Tensor> Krylov::filters(const Tensor& x,
                                    const std::vector<EigenvalueMap>& functions) const {
  // The smallest shift is below sigma_y^2/sigma^2 of all noise levels that networks have.
  constexpr int64_t kShifts = 35;
  constexpr double kRatio = 2;
  const ResolventBasis basis(largest_eigenvalue(x), kShifts, kRatio);
  const PartialFractions fractions = basis.fit(functions, kTolerance);
  check(fractions.error <= kAcceptableFit,
        "functions of A'A: resolvents approximate the function to ",
        fractions.error,
        " only, wanted ",
        kAcceptableFit);
  const std::vector<double>& shifts = basis.shifts();
  const auto first = shifts.begin() + fractions.first;
  return sums_of_resolvents([this](const Tensor& u) { return normal(u); },
                            x,
                            {first, shifts.end()},
                            fractions.weights,
                            {.tolerance = kTolerance})
      .unbind(0);
}

}  // namespace eps
