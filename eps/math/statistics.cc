// The first two moments of samples are tested here.
#include "eps/math/statistics.h"

#include <algorithm>
#include <cmath>

#include "eps/base/random.h"

namespace eps {
namespace {

// Returns the distance of the mean of `values` from 1 in standard errors. values: (n, k), the worst
// of k.
double worst_z_from_one(const Tensor& values) {
  const auto n = static_cast<double>(values.size(0));
  const Tensor z = (values.mean(0) - 1) / (values.std(0) / std::sqrt(n));
  return z.abs().max().item<double>();
}

}  // namespace

MomentTest test_whitened(const Tensor& whitened) {
  const auto n = static_cast<double>(whitened.size(0)), d = static_cast<double>(whitened.size(1));
  const double chi_square = n * whitened.mean(0).square().sum().item<double>();
  Rng rng(0);
  const Tensor directions = rng.normal({whitened.size(1), 32}, whitened.options());
  const Tensor along = at::matmul(whitened, directions / directions.norm(2, {0}, true));
  const double total = worst_z_from_one(whitened.square().mean(1, true));
  return {(chi_square - d) / std::sqrt(2 * d), std::max(total, worst_z_from_one(along.square()))};
}

MomentTest test_moments(const Tensor& samples, const Tensor& mean, const Tensor& covariance) {
  const Tensor centred = samples.flatten(1) - mean.flatten();
  const Tensor factor = at::linalg_cholesky(covariance);
  return test_whitened(
      at::linalg_solve_triangular(factor, centred.transpose(0, 1), false).transpose(0, 1));
}

}  // namespace eps
