// MMD with a Gaussian kernel, as a function of how often each image is counted.
#include "eps/metrics/mmd.h"

#include "eps/metrics/ensemble.h"

namespace eps {
namespace {

// The mean of both middle values, as there may be two.
Tensor median_of(const Tensor& values) { return (values.median() - (-values).median()) / 2; }

// Distances between x_i and x_j, y_i and y_j, x_i and y_j, or the kernel's values: each (N, N).
struct Blocks {
  Tensor xx, yy, xy;
};

// k at the median distance of the 2 N points, each pair once. Where that is 0, most points are one
// and the same: k is then its limit, 1 for these pairs and 0 for all others.
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

// sum_{i != j} w_i w_j k_ij / sum_{i != j} w_i w_j. An image drawn twice is no pair: k_ii says
// nothing about the distance of different images.
Tensor mean_of_pairs(const Tensor& k, const Tensor& w) {
  const Tensor squares = w.square();
  return (at::dot(w, at::mv(k, w)) - at::dot(squares, k.diagonal())) /
         (w.sum().square() - squares.sum());
}

// The cross term with its pairs (i, i): these are 1/N of all, however often an image is drawn.
Tensor mean_with_own(const Tensor& k, const Tensor& w) {
  const double own = 1 / static_cast<double>(k.size(0));
  return own * at::dot(w, k.diagonal()) / w.sum() + (1 - own) * mean_of_pairs(k, w);
}

}  // namespace

MmdStatistics mmd(const Tensor& samples, const Tensor& truth) {
  check_ensemble("mmd", samples, truth);
  check(truth.size(0) >= 3, "mmd: at least 3 images are wanted, got ", truth.size(0));
  const Tensor y = truth.flatten(1).to(at::kDouble), yy = at::cdist(y, y);
  // Every statistic is linear in k, so the mean over sample numbers is taken of k itself.
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

}  // namespace eps
