// Bridges between clean and degraded images.
#include "eps/diffusion/bridge.h"

#include <cmath>

namespace eps {
namespace {

Bridge indi() {
  return {.sigma = [](const Tensor& t) { return t; },
          .weight = [](const Tensor& sigma) { return sigma; },
          .variance = [](const Tensor& sigma) { return at::zeros_like(sigma); }};
}

// Returns the integral from 0 to t <= 1/2 of 1000 (a + (b - a) u)^2 du, the continuous form of the
// authors' sum; they agree to 1e-3.
Tensor first_half(const Tensor& t) {
  const double a = 1e-2, b = std::sqrt(3e-4);
  return ((a + (b - a) * t).pow(3) - a * a * a) * (1000 / (3 * (b - a)));
}

Bridge i2sb() {
  const double S = 2 * first_half(scalar(0.5)).item<double>();
  return {.sigma =
              [S](const Tensor& t) {
                return at::where(t <= 0.5, first_half(t), S - first_half(1 - t)).sqrt();
              },
          .weight = [S](const Tensor& sigma) { return sigma.square() / S; },
          .variance =
              [S](const Tensor& sigma) {
                const Tensor variance = sigma.square();
                return variance * (1 - variance / S).clamp_min(0);
              }};
}

}  // namespace

const Bridge& bridge_of(const NetworkInput& input) {
  static const Bridge of_indi = indi(), of_i2sb = i2sb();
  check(input.is_bridge(), "bridge: the input ", to_string(input), " is not a bridge");
  return input.geometry == Geometry::indi ? of_indi : of_i2sb;
}

Tensor on_bridge(const Bridge& bridge,
                 const Tensor& x0,
                 const Tensor& x1,
                 const Tensor& sigma,
                 const Tensor& n) {
  // The form (1 - w) x0 + w x1 would lose the difference near x0 in float32.
  return x0 + bridge.weight(sigma) * (x1 - x0) + bridge.variance(sigma).sqrt() * n;
}

Tensor cross_bridge(
    const Bridge& bridge, const Mean& mean, const Tensor& x1, int64_t steps, Rng& rng, bool noisy) {
  const Tensor levels = bridge.sigma(at::linspace(1, 0, steps + 1, at::kDouble));
  Tensor x = x1;
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor sigma = levels[i], next = levels[i + 1];
    const Tensor r = bridge.weight(next) / bridge.weight(sigma);
    const Tensor x0 = mean(x, sigma);
    x = x0 + r * (x - x0);
    const Tensor variance = bridge.variance(next) - r.square() * bridge.variance(sigma);
    if (noisy && variance.item<double>() > 0)
      x = x + variance.sqrt() * rng.normal(x.sizes().vec(), x.options());
  }
  return x;
}

}  // namespace eps
