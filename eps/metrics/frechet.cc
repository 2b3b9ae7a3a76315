// The Frechet distance from inner products of features alone.
#include "eps/metrics/frechet.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eps/metrics/ensemble.h"
#include "eps/metrics/metric.h"

namespace eps {
namespace {

// `Features` holds products of features relative to a common origin, which changes nothing but the
// rounding.
struct Features {
  Tensor products;    // (S, N, N): x_si . y_j
  Tensor x_squares;   // (N): sum_s |x_si|^2
  Tensor y_squares;   // (N): |y_j|^2
  Tensor x_means, y;  // (N, D): mean_s x_si, y_j
};

Features inner_products(const Tensor& samples, const Tensor& truth) {
  const Tensor wide = truth.to(at::kDouble), origin = wide.mean(0), y = wide - origin;
  Tensor squares = at::zeros_like(y.select(1, 0)), sum = at::zeros_like(y);
  std::vector<Tensor> products;
  for (const Tensor& sample : samples.unbind(0)) {
    const Tensor x = sample.to(at::kDouble) - origin;
    products.push_back(at::matmul(x, y.t()).to(at::kCPU));
    squares += x.square().sum(1);
    sum += x;
  }
  return {at::stack(products),
          squares.to(at::kCPU),
          y.square().sum(1).to(at::kCPU),
          (sum / samples.size(0)).to(at::kCPU),
          y.to(at::kCPU)};
}

// Returns the sum of the singular values of sqrt(w_i w_j) (x_si - m1) . (y_j - m2), an S N x N
// matrix, as square roots of the eigenvalues of its small square. products: (S, N, N); w: (N), none
// 0.
double nuclear_norm(const Tensor& products, const Tensor& w, int64_t dimension) {
  const Tensor row = w.reshape({1, -1, 1}), column = w.reshape({1, 1, -1}), total = w.sum();
  const Tensor x_m2 = (products * column).sum(2, true) / total;
  const Tensor m1_y = (products * row).flatten(0, 1).sum(0) / (total * products.size(0));
  const Tensor m1_m2 = at::dot(m1_y, w) / total;
  const Tensor m = ((products - x_m2 - m1_y + m1_m2) * (row * column).sqrt()).flatten(0, 1);
  const Tensor square = at::matmul(m.t(), m);
  // The eigenvalue solver throws at NaN; a statistic returns it.
  const double trace = square.trace().item<double>();
  if (!std::isfinite(trace)) return std::numeric_limits<double>::quiet_NaN();
  // Eigenvalues rise. Only the last `rank` belong to centred vectors of this length: the others are
  // 0, and the roots of their rounding errors would add up.
  const int64_t rank = std::min(w.size(0) - 1, dimension);
  const Tensor largest = at::linalg_eigvalsh(square).slice(0, w.size(0) - rank);
  return largest.clamp_min(0).sqrt().sum().item<double>();
}

}  // namespace

Statistic frechet_distance(const Tensor& samples, const Tensor& truth) {
  check_ensemble("frechet_distance", samples, truth);
  check(
      truth.dim() == 2, "frechet_distance: features must be N x D, got ", to_string(truth.sizes()));
  check(truth.size(0) >= 2, "frechet_distance: at least 2 images are wanted, got ", truth.size(0));
  auto distance = [f = inner_products(samples, truth)](const Tensor& weights) {
    const auto S = static_cast<double>(f.products.size(0));
    const double n2 = weights.sum().item<double>(), n1 = S * n2;
    const Tensor m1 = at::matmul(weights, f.x_means) / n2, m2 = at::matmul(weights, f.y) / n2;
    const Tensor scatter1 = at::dot(weights, f.x_squares) - n1 * m1.square().sum();
    const Tensor scatter2 = at::dot(weights, f.y_squares) - n2 * m2.square().sum();
    const Tensor moments = (m1 - m2).square().sum() + scatter1 / (n1 - 1) + scatter2 / (n2 - 1);
    // An image that was not drawn has a row and a column of zeros.
    const Tensor drawn = weights.nonzero().squeeze(1);
    const double root = nuclear_norm(f.products.index_select(1, drawn).index_select(2, drawn),
                                     weights.index_select(0, drawn),
                                     f.y.size(1));
    return moments.item<double>() - 2 * root / std::sqrt((n1 - 1) * (n2 - 1));
  };
  return {distance, 2};
}

EPS_METRICS(
    40,
    {{.name = "fid",
      .label = "FID",
      .help =
          "Frechet distance of all samples from all truths, by Inception features; lower is better",
      .digits = 2,
      .needs = {.network = MetricNetwork::inception, .images = 3},
      .of_all = [](const Ensemble& e) { return frechet_distance(e.samples, e.truth); },
      .every_length = true}});

}  // namespace eps
