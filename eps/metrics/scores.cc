// CRPS by sorting, and the energy score.
#include "eps/metrics/scores.h"

#include "eps/metrics/ensemble.h"

namespace eps {
namespace {

// What the sum of distances over pairs i < j is divided by to give half the spread.
double pair_count(const char* name,
                  const Tensor& samples,
                  const Tensor& truth,
                  Estimator estimator) {
  const bool fair = estimator == Estimator::fair;
  check_ensemble(name, samples, truth, fair ? 2 : 1);
  const auto members = static_cast<double>(samples.size(0));
  return fair ? members * (members - 1) : members * members;
}

}  // namespace

Tensor crps(const Tensor& samples, const Tensor& truth, Estimator estimator) {
  const double pairs = pair_count("crps", samples, truth, estimator);
  const int64_t members = samples.size(0);
  // sum_{i < j} |X_i - X_j| = sum_i (2 i - M - 1) X_(i), with X_(1) <= ... <= X_(M).
  const Tensor order =
      2 * at::arange(1, members + 1, samples.options().dtype(at::kDouble)) - (members + 1);
  return for_each_image(samples, truth, [&](const Tensor& x, const Tensor& z) {
    const Tensor distances = at::matmul(order, std::get<0>(x.sort(0)));
    return ((x - z).abs().mean(0) - distances / pairs).mean();
  });
}

Tensor energy_score(const Tensor& samples, const Tensor& truth, Estimator estimator) {
  const double pairs = pair_count("energy_score", samples, truth, estimator);
  return for_each_image(samples, truth, [&](const Tensor& x, const Tensor& z) {
    return (x - z).norm(2, 1).mean() - at::pdist(x).sum() / pairs;
  });
}

}  // namespace eps
