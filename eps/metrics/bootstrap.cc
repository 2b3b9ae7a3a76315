// The bootstrap over images (Efron 1979).
#include "eps/metrics/bootstrap.h"

#include <cmath>
#include <limits>

#include "eps/base/random.h"

namespace eps {
namespace {

// (replicates, images): how often each image is drawn. A replicate has a stream of its own, so it
// does not depend on how many there are.
Tensor multinomial_counts(int64_t images, int64_t replicates, uint64_t seed) {
  Rng rng(derive_seed(seed, Stream::bootstrap), replicates);
  const Tensor drawn =
      (rng.uniform({replicates, images}) * static_cast<double>(images)).floor().to(at::kLong);
  return at::zeros({replicates, images}, at::kDouble)
      .scatter_add_(1, drawn, at::ones({replicates, images}, at::kDouble));
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

Reading bootstrap(const Statistic& statistic, int64_t images, int64_t replicates, uint64_t seed) {
  check(images >= 1, "bootstrap: the number of images must be at least 1, got ", images);
  check(
      replicates >= 2, "bootstrap: the number of replicates must be at least 2, got ", replicates);
  const double value = statistic(at::ones({images}, at::kDouble));
  if (images == 1) return {value, std::numeric_limits<double>::quiet_NaN()};
  const Tensor counts = multinomial_counts(images, replicates, seed);
  std::vector<double> values;
  // One image, drawn again and again, has no spread and no pairs.
  for (const Tensor& weights : counts.unbind(0))
    if (at::count_nonzero(weights).item<int64_t>() > 1) values.push_back(statistic(weights));
  return {value, at::tensor(values, at::kDouble).std().item<double>()};
}

}  // namespace eps
