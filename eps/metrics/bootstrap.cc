// The bootstrap over images (Efron 1979) and the jackknife (Tukey 1958).
#include "eps/metrics/bootstrap.h"

#include <cmath>
#include <limits>

#include "eps/base/random.h"

namespace eps {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns (replicates, images): how often each image is drawn. Each replicate has its own stream of
// random numbers, so the first replicates are the same whatever their number.
Tensor multinomial_counts(int64_t images, int64_t replicates, uint64_t seed) {
  Rng rng(derive_seed(seed, Stream::bootstrap), replicates);
  const Tensor drawn =
      (rng.uniform({replicates, images}) * static_cast<double>(images)).floor().to(at::kLong);
  return at::zeros({replicates, images}, at::kDouble)
      .scatter_add_(1, drawn, at::ones({replicates, images}, at::kDouble));
}

// Returns sqrt((n - 1) / n sum_i (theta_i - mean)^2), theta_i the value without image i.
double jackknife_error(const Statistic& statistic, int64_t images) {
  if (images - 1 < statistic.images()) return kNaN;
  std::vector<double> values;
  for (int64_t i = 0; i < images; ++i) {
    Tensor weights = at::ones({images}, at::kDouble);
    weights[i] = 0;
    values.push_back(statistic(weights));
  }
  const auto n = static_cast<double>(images);
  return (n - 1) / std::sqrt(n) * at::tensor(values, at::kDouble).std().item<double>();
}

}  // namespace

Statistic mean_of(const Tensor& values) {
  check(values.dim() == 1,
        "mean_of: wanted one value for each image, got ",
        to_string(values.sizes()));
  return [v = values.to(at::kCPU, at::kDouble)](const Tensor& weights) {
    return ((v * weights).sum() / weights.sum()).item<double>();
  };
}

Statistic over_defined(const Tensor& values,
                       const std::function<Statistic(const Tensor& values)>& of) {
  const Tensor defined =
      values.isnan().reshape({values.size(0), -1}).any(1).logical_not().to(at::kCPU, at::kDouble);
  const Statistic whole = of(values.nan_to_num());
  const auto undefined = values.size(0) - static_cast<int64_t>(defined.sum().item<double>());
  // Any draw of more different images than are undefined has a defined one.
  return {[whole, defined](const Tensor& weights) { return whole(weights * defined); },
          whole.images() + undefined};
}

Reading bootstrap(const Statistic& statistic, int64_t images, int64_t replicates, uint64_t seed) {
  check(images >= 1, "bootstrap: the number of images must be at least 1, got ", images);
  check(
      replicates >= 2, "bootstrap: the number of replicates must be at least 2, got ", replicates);
  const double value = statistic(at::ones({images}, at::kDouble));
  if (images == 1) return {value, kNaN};
  const Tensor counts = multinomial_counts(images, replicates, seed);
  if ((counts > 0).sum(1).min().item<int64_t>() < statistic.images())
    return {value, jackknife_error(statistic, images)};
  std::vector<double> values;
  for (const Tensor& weights : counts.unbind(0)) values.push_back(statistic(weights));
  const auto n = static_cast<double>(images);
  return {value, std::sqrt(n / (n - 1)) * at::tensor(values, at::kDouble).std().item<double>()};
}

}  // namespace eps
