// Rank histograms, coverage and the ratio of spread to skill.
#include "eps/metrics/calibration.h"

#include <cmath>

#include "eps/metrics/ensemble.h"
#include "eps/metrics/evaluation.h"
#include "eps/metrics/interval.h"
#include "eps/metrics/ordered.h"

namespace eps {
namespace {

// Returns 0, or NaN where an image's samples or its truth are not finite: comparisons would hide
// it.
Tensor zero_if_finite(const Tensor& x, const Tensor& z) { return 0 * (x.sum() + z.sum()); }

Tensor fraction_inside(const Tensor& low, const Tensor& z, const Tensor& high) {
  return at::logical_and(low <= z, z <= high).to(at::kDouble).mean();
}

// Returns the mean histogram, (S + 1).
Tensor weighted_mean(const Tensor& histograms, const Tensor& weights) {
  return at::matmul(weights, histograms) / weights.sum();
}

// Returns the histograms, (N, S + 1), for statistics.
Tensor checked_histograms(const char* name, const Tensor& histograms, int64_t images) {
  check(histograms.dim() == 2 && histograms.size(0) >= images,
        name,
        ": wanted histograms of at least ",
        images,
        " images, got ",
        to_string(histograms.sizes()));
  return histograms.to(at::kCPU, at::kDouble);
}

}  // namespace

Tensor rank_histograms(const Tensor& samples, const Tensor& truth, Rng& rng) {
  check_ensemble("rank_histograms", samples, truth);
  const Tensor uniform = rng.uniform(truth.sizes().vec(), truth.options().dtype(at::kDouble));
  int64_t image = 0;
  return for_each_image(samples, truth, [&](const Tensor& x, const Tensor& z) {
    const Tensor below = (x < z).sum(0), ties = (x == z).sum(0);
    const Tensor rank = below + (uniform[image++].flatten() * (ties + 1)).floor().to(at::kLong);
    const Tensor counts = at::bincount(rank, {}, samples.size(0) + 1);
    return counts.to(at::kDouble) / z.numel() + zero_if_finite(x, z);
  });
}

Tensor rank_histograms(const Ensemble& batch) {
  return batch.once("rank_histograms", [&] {
    std::vector<uint64_t> numbers;
    for (int64_t i = 0; i < batch.truth.size(0); ++i)
      numbers.push_back(static_cast<uint64_t>(batch.first + i));
    Rng ties(derive_seed(batch.options.seed, Stream::rank_ties), numbers);
    return rank_histograms(batch.samples, batch.truth, ties);
  });
}

Statistic rank_deviation(const Tensor& histograms) {
  return [h = checked_histograms("rank_deviation", histograms, 1)](const Tensor& weights) {
    const double uniform = 1 / static_cast<double>(h.size(1));
    return (weighted_mean(h, weights) - uniform).abs().sum().item<double>();
  };
}

Statistic rank_chi2(const Tensor& histograms) {
  auto ratio = [h = checked_histograms("rank_chi2", histograms, 2)](const Tensor& weights) {
    const Tensor mean = weighted_mean(h, weights), n = weights.sum();
    const Tensor variance = at::matmul(weights, (h - mean).square()) / (n - 1);
    const Tensor deviation = mean - 1 / static_cast<double>(h.size(1));
    return (deviation.square().sum() / (variance.sum() / n)).item<double>();
  };
  return {ratio, 2};
}

Tensor coverage(const Tensor& samples, const Tensor& truth, double level) {
  check_ensemble("coverage", samples, truth);
  return coverage_in_order(in_order(samples), truth, level);
}

Tensor coverage_in_order(const Tensor& ordered, const Tensor& truth, double level) {
  check_ensemble("coverage", ordered, truth);
  return for_each_image(ordered, truth, [&](const Tensor& x, const Tensor& z) {
    const Interval interval = interval_in_order(x, level);
    return fraction_inside(interval.low, z, interval.high) + zero_if_finite(x, z);
  });
}

Tensor interval_coverage(const Tensor& samples, const Tensor& truth) {
  check_ensemble("interval", samples, truth, 2);
  return for_each_image(samples, truth, [](const Tensor& x, const Tensor& z) {
    const Interval interval = interval_90(x);
    return fraction_inside(interval.low, z, interval.high) + zero_if_finite(x, z);
  });
}

Tensor range_coverage(const Tensor& samples, const Tensor& truth) {
  check_ensemble("range_coverage", samples, truth);
  return for_each_image(samples, truth, [](const Tensor& x, const Tensor& z) {
    return fraction_inside(x.amin(0), z, x.amax(0)) + zero_if_finite(x, z);
  });
}

SpreadSkill spread_skill(const Tensor& samples, const Tensor& truth) {
  check_ensemble("spread_skill", samples, truth, 2);
  // The mean of S samples errs by the variance of the truth plus 1/S of that of the samples.
  const double inflation = 1 + 1 / static_cast<double>(samples.size(0));
  const Tensor parts = for_each_image(samples, truth, [&](const Tensor& x, const Tensor& z) {
    return at::stack({inflation * x.var(0).mean(), (x.mean(0) - z).square().mean()});
  });
  return {parts.select(1, 0), parts.select(1, 1)};
}

Statistic spread_skill_ratio(const SpreadSkill& parts) {
  return [spread = mean_of(parts.variance), skill = mean_of(parts.squared_error)](
             const Tensor& weights) { return std::sqrt(spread(weights) / skill(weights)); };
}

}  // namespace eps
