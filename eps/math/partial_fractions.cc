// Functions of a symmetric matrix as sums of its resolvents.
#include "eps/math/partial_fractions.h"

#include <cmath>

namespace eps {

std::vector<double> resolvent_shifts(double largest, int64_t count, double ratio) {
  std::vector<double> shifts;
  for (int64_t j = count - 1; j >= 0; --j)
    shifts.push_back(largest * std::pow(ratio, -static_cast<double>(j)));
  return shifts;
}

Tensor partial_fractions(const std::function<Tensor(const Tensor& eigenvalue)>& f,
                         const std::vector<double>& shifts,
                         double largest,
                         const at::TensorOptions& options) {
  constexpr int64_t kPoints = 160;
  const Tensor line = at::logspace(
      std::log10(shifts.front() / 10), std::log10(largest), kPoints, 10.0, at::kDouble);
  const Tensor e = at::cat({at::zeros({1}, at::kDouble), line});
  const Tensor wanted =
      f(e.reshape({1, 1, 1, -1}).to(options.dtype(at::kDouble))).to(at::kCPU, at::kDouble);
  const Tensor values = wanted.expand({wanted.size(0), 1, 1, kPoints + 1}).flatten(1);
  const Tensor s = at::tensor(shifts, at::kDouble);
  const Tensor terms = s / (e.unsqueeze(1) + s);
  const Tensor basis = at::cat({at::ones({kPoints + 1, 1}, at::kDouble), terms}, 1);
  // Each row is divided by the wanted value, so that the least squares are those of ratios to 1.
  const Tensor relative = basis / values.unsqueeze(2);
  // Terms that agree on all points to rounding have small weights, not large ones that cancel.
  constexpr double kCutoff = 1e-12;
  return at::linalg_pinv(relative, kCutoff).sum(2);
}

}  // namespace eps
