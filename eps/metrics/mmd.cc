// MMD with a Gaussian kernel, as a function of how often each image is counted.
#include "eps/metrics/mmd.h"

#include "eps/metrics/ensemble.h"
#include "eps/metrics/metric.h"

namespace eps {
namespace {

// Returns the mean of both middle values, as there may be two.
Tensor median_of(const Tensor& values) { return (values.median() - (-values).median()) / 2; }

// `Blocks` holds distances between x_i and x_j, y_i and y_j, x_i and y_j, or the kernel's values:
// each (N, N).
struct Blocks {
  Tensor xx, yy, xy;
};

// Returns k for the median distance l of the 2 N points, each pair once. l = 0 means that most
// points are equal: k is then its limit, 1 for equal points and 0 for others.
Blocks kernels(const Blocks& distances) {
  const Tensor pair = at::ones_like(distances.xx).triu(1).to(at::kBool);
  const Tensor l = median_of(at::cat({distances.xx.masked_select(pair),
                                      distances.yy.masked_select(pair),
                                      distances.xy.flatten()}));
  const bool degenerate = l.item<double>() == 0;
  const auto k = [&](const Tensor& d) {
    const Tensor values = degenerate ? (d == 0).to(d) : (-(d / l).square() / 2).exp();
    return values.to(at::kCPU);
  };
  return {k(distances.xx), k(distances.yy), k(distances.xy)};
}

// Returns sum_{i != j} w_i w_j k_ij / sum_{i != j} w_i w_j. An image drawn twice is no pair: k_ii
// says nothing about the distance of different images.
Tensor mean_of_pairs(const Tensor& k, const Tensor& w) {
  const Tensor squares = w.square();
  return (at::dot(w, at::mv(k, w)) - at::dot(squares, k.diagonal())) /
         (w.sum().square() - squares.sum());
}

// Returns the cross term with its pairs (i, i), which are 1/N of all, however often an image is
// drawn.
Tensor mean_with_own(const Tensor& k, const Tensor& w) {
  const double own = 1 / static_cast<double>(k.size(0));
  return own * at::dot(w, k.diagonal()) / w.sum() + (1 - own) * mean_of_pairs(k, w);
}

}  // namespace

MmdStatistics mmd(const Tensor& samples, const Tensor& truth) {
  check_ensemble("mmd", samples, truth);
  check(truth.size(0) >= 3, "mmd: at least 3 images are wanted, got ", truth.size(0));
  const Tensor y = truth.flatten(1).to(at::kDouble), yy = at::cdist(y, y);
  // Every statistic is linear in k, so k itself is averaged over sample numbers.
  Blocks k;
  for (const Tensor& sample : samples.unbind(0)) {
    const Tensor x = sample.flatten(1).to(at::kDouble);
    const Blocks one = kernels({at::cdist(x, x), yy, at::cdist(x, y)});
    k = k.xx.defined() ? Blocks{k.xx + one.xx, k.yy + one.yy, k.xy + one.xy} : one;
  }
  const auto count = static_cast<double>(samples.size(0));
  const Tensor within = (k.xx + k.yy) / count, truths = k.yy / count, cross = k.xy / count;
  const auto paired = [=](const Tensor& w) {
    return (mean_of_pairs(within, w) - 2 * mean_with_own(cross, w)).item<double>();
  };
  // k_ii = 1 between an image and itself.
  const auto floor = [=](const Tensor& w) {
    return (2 * mean_of_pairs(truths, w) - 2 * mean_with_own(truths, w)).item<double>();
  };
  const auto unpaired = [=](const Tensor& w) {
    return mean_of_pairs(within - 2 * cross, w).item<double>();
  };
  return {{paired, 2}, {floor, 2}, {unpaired, 2}};
}

namespace {

// Returns the three metrics of images or of features; `infix` and `tag` go into names and labels.
std::vector<Metric> mmd_metrics(MetricNetwork network,
                                const std::string& infix,
                                const std::string& tag,
                                const std::string& space) {
  const auto metric = [&](const std::string& name,
                          const std::string& label,
                          const std::string& help,
                          Statistic MmdStatistics::*statistic) {
    return Metric{.name = name,
                  .label = "MMD2" + tag + " " + label,
                  .help = help,
                  .digits = 5,
                  .needs = {.network = network, .images = 3},
                  .of_all = [=](const Ensemble& e) {
                    return e.once("mmd", [&] { return mmd(e.samples, e.truth); }).*statistic;
                  }};
  };
  return {
      metric("mmd_paired" + infix,
             "paired",
             "squared MMD of " + space + ", own truths included, as in the paper; lower is better",
             &MmdStatistics::paired),
      metric("mmd_paired" + infix + "_floor",
             "floor",
             "mmd_paired" + infix + " of samples that are their truths, by " + space +
                 ": the least to expect",
             &MmdStatistics::floor),
      metric("mmd_unpaired" + infix,
             "unpaired",
             "squared MMD of " + space + " without pairs of one image: unbiased; 0 is perfect",
             &MmdStatistics::unpaired)};
}

}  // namespace

EPS_METRICS(60, mmd_metrics(MetricNetwork::none, "", "", "images"));
EPS_METRICS(
    61, mmd_metrics(MetricNetwork::inception, "_inception", "-Inception", "Inception features"));

}  // namespace eps
