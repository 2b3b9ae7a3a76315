// Calibration, the agreement of the samples' spread with the truth's: ranks, coverage of intervals,
// spread against error.
#pragma once

#include "eps/base/random.h"
#include "eps/metrics/bootstrap.h"

namespace eps {

struct Ensemble;

// Returns histograms of the rank of each pixel's truth among its S samples, 0 ... S, ties broken at
// random: (N, S + 1) fractions of each image's pixels, float64. Uniform for samples of the
// posterior (Talagrand, simulation-based calibration). samples: (S, N, ...), truth: (N, ...). rng:
// one stream per image.
Tensor rank_histograms(const Tensor& samples, const Tensor& truth, Rng& rng);
// Returns the histograms of a batch, which rank_deviation and rank_chi2 share.
Tensor rank_histograms(const Ensemble& batch);

// Returns sum_k |h_k - 1/(S+1)| of the mean histogram h: 0 is uniform.
Statistic rank_deviation(const Tensor& histograms);
// Returns sum_k (h_k - 1/(S+1))^2 over its expected value for a calibrated sampler, by the scatter
// of histograms between images: about 1 if calibrated, however pixels of an image depend on each
// other. Needs two images or more.
Statistic rank_chi2(const Tensor& histograms);

// Returns the part of each image's pixels, (N), inside the central interval.
Tensor coverage(const Tensor& samples, const Tensor& truth, double level);
// Returns the same of samples that are in order already.
Tensor coverage_in_order(const Tensor& ordered, const Tensor& truth, double level);
// Returns the part inside the 90% interval that eps restore gives (eps/metrics/interval.h).
Tensor interval_coverage(const Tensor& samples, const Tensor& truth);
// Returns the part between the least and the greatest sample, whose level is (S - 1)/(S + 1).
Tensor range_coverage(const Tensor& samples, const Tensor& truth);

// A `SpreadSkill` holds means over each image's pixels: the variance among samples, times (S +
// 1)/S, and the squared error of their mean. Both have the same expectation for samples of the
// posterior.
struct SpreadSkill {
  Tensor variance, squared_error;  // (N)
};
SpreadSkill spread_skill(const Tensor& samples, const Tensor& truth);
// Returns sqrt(mean variance / mean squared error): above 1 too wide, below 1 too sure.
Statistic spread_skill_ratio(const SpreadSkill& parts);

}  // namespace eps
