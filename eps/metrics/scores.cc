// CRPS by sorting, and the energy score.
#include "eps/metrics/scores.h"

#include "eps/metrics/ensemble.h"
#include "eps/metrics/metric.h"

namespace eps {
namespace {

// Returns the divisor of the sum of distances over pairs i < j that gives half the spread.
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
  return crps_in_order(in_order(samples), truth, estimator);
}

Tensor crps_in_order(const Tensor& ordered, const Tensor& truth, Estimator estimator) {
  const double pairs = pair_count("crps", ordered, truth, estimator);
  const int64_t members = ordered.size(0);
  // sum_{i < j} |X_i - X_j| = sum_i (2 i - M - 1) X_(i), with X_(1) <= ... <= X_(M).
  const Tensor order =
      2 * at::arange(1, members + 1, ordered.options().dtype(at::kDouble)) - (members + 1);
  return for_each_image(ordered, truth, [&](const Tensor& x, const Tensor& z) {
    const Tensor distances = at::matmul(order, x);
    return ((x - z).abs().mean(0) - distances / pairs).mean();
  });
}

Tensor energy_score(const Tensor& samples, const Tensor& truth, Estimator estimator) {
  const double pairs = pair_count("energy_score", samples, truth, estimator);
  return for_each_image(samples, truth, [&](const Tensor& x, const Tensor& z) {
    return (x - z).norm(2, 1).mean() - at::pdist(x).sum() / pairs;
  });
}

namespace {

using Score = Tensor (*)(const Ensemble& batch, Estimator estimator);

Tensor crps_of(const Ensemble& batch, Estimator estimator) {
  return crps_in_order(batch.ordered(), batch.truth, estimator);
}
Tensor energy_of(const Ensemble& batch, Estimator estimator) {
  return energy_score(batch.samples, batch.truth, estimator);
}

// Errors are those of images in [0, 1], half of those in [-1, 1].
constexpr double kUnit = 0.5;

Metric pixel_score(Score score, Estimator estimator, Metric metric) {
  metric.needs.samples = estimator == Estimator::fair ? 2 : 1;
  metric.per_image = [=](const Ensemble& e) { return kUnit * score(e, estimator); };
  return metric;
}

Metric feature_score(Score score, Estimator estimator, Metric metric) {
  metric.needs = {.network = MetricNetwork::inception,
                  .samples = estimator == Estimator::fair ? 2 : 1,
                  .images = 3};
  metric.per_image = [=](const Ensemble& e) { return score(e, estimator); };
  return metric;
}

std::vector<Metric> pixel_scores() {
  using enum Estimator;
  return {
      pixel_score(crps_of,
                  standard,
                  {.name = "crps",
                   .label = "CRPS",
                   .help = "per pixel in [0, 1], spread over all pairs (1/S^2); lower is better"}),
      pixel_score(
          crps_of,
          fair,
          {.name = "crps_fair",
           .label = "CRPS fair",
           .help = "CRPS with the unbiased spread, 1/(S (S - 1)); lower is better, for any S"}),
      pixel_score(energy_of,
                  standard,
                  {.name = "energy_score",
                   .label = "Energy score",
                   .help = "CRPS with the L2 norm over all pixels in [0, 1], as the paper's "
                           "CRPS-pixel; lower is better",
                   .digits = 3}),
      pixel_score(energy_of,
                  fair,
                  {.name = "energy_score_fair",
                   .label = "Energy fair",
                   .help = "energy score with the unbiased spread, 1/(S (S - 1)); lower is better, "
                           "for any S",
                   .digits = 3}),
  };
}

std::vector<Metric> feature_scores() {
  using enum Estimator;
  return {
      feature_score(crps_of,
                    standard,
                    {.name = "crps_inception",
                     .label = "CRPS-Inception",
                     .help = "CRPS, mean over Inception features; lower is better"}),
      feature_score(crps_of,
                    fair,
                    {.name = "crps_inception_fair",
                     .label = "CRPS-Inception fair",
                     .help = "CRPS with the unbiased spread, mean over Inception features; lower "
                             "is better, for any S"}),
      feature_score(energy_of,
                    standard,
                    {.name = "energy_score_inception",
                     .label = "Energy-Inception",
                     .help = "energy score of Inception features, as the paper's CRPS-Inception; "
                             "lower is better",
                     .digits = 3}),
      feature_score(energy_of,
                    fair,
                    {.name = "energy_score_inception_fair",
                     .label = "Energy-Inception fair",
                     .help = "energy score of Inception features with the unbiased spread; lower "
                             "is better, for any S",
                     .digits = 3}),
  };
}

}  // namespace

EPS_METRICS(50, pixel_scores());
EPS_METRICS(51, feature_scores());

}  // namespace eps
