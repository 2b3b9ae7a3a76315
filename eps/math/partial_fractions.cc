// Functions of a symmetric matrix as sums of its resolvents.
#include "eps/math/partial_fractions.h"

#include <algorithm>
#include <cmath>

namespace eps {

std::vector<double> resolvent_shifts(double largest, int64_t count, double ratio) {
  std::vector<double> shifts;
  for (int64_t j = count - 1; j >= 0; --j)
    shifts.push_back(largest * std::pow(ratio, -static_cast<double>(j)));
  return shifts;
}

PartialFractions partial_fractions(const std::function<Tensor(const Tensor& eigenvalue)>& f,
                                   const std::vector<double>& shifts,
                                   double largest,
                                   double tolerance) {
  constexpr int64_t kPoints = 160;
  constexpr double kFloor = 1e-3;
  const Tensor line = at::logspace(
      std::log10(shifts.front() / 10), std::log10(largest), kPoints, 10.0, at::kDouble);
  const Tensor e = at::cat({at::zeros({1}, at::kDouble), line});
  const Tensor wanted = f(e.reshape({1, 1, 1, -1})).to(at::kCPU, at::kDouble);
  const Tensor values = wanted.expand({wanted.size(0), 1, 1, kPoints + 1}).flatten(1);
  const Tensor scale = at::maximum(values, kFloor * values.amax(1, true)).unsqueeze(2);
  const Tensor s = at::tensor(shifts, at::kDouble).flip(0);  // the largest first
  const Tensor basis =
      at::cat({at::ones({kPoints + 1, 1}, at::kDouble), s / (e.unsqueeze(1) + s)}, 1);
  // The orthogonal columns give the least squares of any number of terms, by the first of them.
  const auto [Q, R] = at::linalg_qr(basis / scale);
  const Tensor goal = values.unsqueeze(2) / scale;
  const Tensor part = at::matmul(Q.transpose(1, 2), goal);  // (N, terms, 1)
  const Tensor left = (goal - (Q * part.transpose(1, 2)).cumsum(2)).abs();
  const Tensor errors = left.amax({0, 1});  // of each number of terms
  const double enough = std::max(tolerance, 1.5 * errors.min().item<double>());
  const int64_t terms =
      std::max<int64_t>((errors <= enough).to(at::kInt).argmax().item<int64_t>() + 1, 2);
  const Tensor known = part.slice(1, 0, terms);
  const Tensor square = R.slice(1, 0, terms).slice(2, 0, terms);
  const Tensor weights = at::linalg_solve(square, known).squeeze(2);
  // In the order of the shifts again.
  return {.first = shifts.size() - static_cast<size_t>(terms - 1),
          .weights = at::cat({weights.slice(1, 0, 1), weights.slice(1, 1).flip(1)}, 1),
          .error = errors[terms - 1].item<double>()};
}

}  // namespace eps
