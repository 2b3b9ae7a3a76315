// This file has the interpolants, the conversions between predictions, and the time grids.
#include "eps/diffusion/schedule.h"

#include <cmath>
#include <numbers>

namespace eps {
namespace {

class Edm final : public Schedule {
 public:
  Coefficients at(const Tensor& t) const override {
    return {at::ones_like(t), t, at::zeros_like(t), at::ones_like(t)};
  }
  Tensor time(const Tensor& sigma) const override { return sigma; }
};

// The linear schedule has alpha = exp(-B/2), beta = sqrt(1 - exp(-B)), with B(t) the integral of
// the noise rate b(t).
class VpLinear final : public Schedule {
 public:
  Coefficients at(const Tensor& t) const override {
    const Tensor integral = rate_.integral(t);
    const Tensor rate = rate_.beta_min + rate_.beta_d * t;
    const Tensor alpha = (-0.5 * integral).exp();
    const Tensor beta = (-at::expm1(-integral)).sqrt();
    return {alpha, beta, -0.5 * rate * alpha, 0.5 * rate * alpha.square() / beta};
  }
  Tensor time(const Tensor& sigma) const override { return rate_.time(sigma); }

 private:
  const VpRate rate_ = {};
};

// The cosine schedule has alpha = cos(phi(t)) / cos(phi(0)) with phi(t) = (t + s) / (1 + s) pi / 2.
class VpCosine final : public Schedule {
 public:
  Coefficients at(const Tensor& t) const override {
    const Tensor phi = (t + kOffset) * kRate;
    const Tensor alpha = phi.cos() / kCos0;
    // beta^2 = 1 - alpha^2 = sin(phi - phi0) sin(phi + phi0) / cos(phi0)^2, without cancellation.
    const Tensor beta = ((t * kRate).sin() * (phi + kOffset * kRate).sin()).sqrt() / kCos0;
    const Tensor dalpha = -kRate * phi.sin() / kCos0;
    return {alpha, beta, dalpha, -alpha * dalpha / beta};
  }
  Tensor time(const Tensor& sigma) const override {
    const Tensor phi = (kCos0 / (1 + sigma.square()).sqrt()).acos();
    return (phi / kRate - kOffset).clamp_min(0);
  }

 private:
  static constexpr double kOffset = 0.008;
  static constexpr double kRate = std::numbers::pi / 2 / (1 + kOffset);
  static inline const double kCos0 = std::cos(kOffset * kRate);
};

class RectifiedFlow final : public Schedule {
 public:
  Coefficients at(const Tensor& t) const override {
    return {1 - t, t, -at::ones_like(t), at::ones_like(t)};
  }
  Tensor time(const Tensor& sigma) const override { return sigma / (1 + sigma); }
};

}  // namespace

Tensor VpRate::integral(const Tensor& t) const { return t * (beta_min + 0.5 * beta_d * t); }

Tensor VpRate::sigma(const Tensor& t) const { return at::expm1(integral(t)).sqrt(); }

Tensor VpRate::time(const Tensor& sigma) const {
  // B = ln(1 + sigma^2), and t is the positive root of beta_d t^2/2 + beta_min t = B. The other
  // form of the root, (sqrt(...) - beta_min)/beta_d, cancels where B is small.
  const Tensor B = at::log1p(sigma.square());
  return 2 * B / (beta_min + (beta_min * beta_min + 2 * beta_d * B).sqrt());
}

const Schedule& edm() {
  static const Edm schedule;
  return schedule;
}
const Schedule& vp_linear() {
  static const VpLinear schedule;
  return schedule;
}
const Schedule& vp_cosine() {
  static const VpCosine schedule;
  return schedule;
}
const Schedule& rectified_flow() {
  static const RectifiedFlow schedule;
  return schedule;
}

const std::map<std::string, const Schedule*>& schedules() {
  static const std::map<std::string, const Schedule*> table = {{"edm", &edm()},
                                                               {"vp_linear", &vp_linear()},
                                                               {"vp_cosine", &vp_cosine()},
                                                               {"flow", &rectified_flow()}};
  return table;
}

Tensor score_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c) {
  return (c.alpha * mean - x_t) / c.beta.square();
}

Tensor noise_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c) {
  return (x_t - c.alpha * mean) / c.beta;
}

Tensor velocity_from_mean(const Tensor& x_t, const Tensor& mean, const Coefficients& c) {
  return c.dbeta / c.beta * x_t + (c.dalpha - c.alpha * c.dbeta / c.beta) * mean;
}

Tensor mean_from_score(const Tensor& x_t, const Tensor& score, const Coefficients& c) {
  return (x_t + c.beta.square() * score) / c.alpha;
}

Tensor mean_from_noise(const Tensor& x_t, const Tensor& noise, const Coefficients& c) {
  return (x_t - c.beta * noise) / c.alpha;
}

Tensor mean_from_velocity(const Tensor& x_t, const Tensor& velocity, const Coefficients& c) {
  return (velocity - c.dbeta / c.beta * x_t) / (c.dalpha - c.alpha * c.dbeta / c.beta);
}

Tensor time_grid(const Schedule& schedule, const GridOptions& options) {
  const auto [kind, steps, sigma_min, sigma_max, rho] = options;
  check(steps >= 1, "grid: steps must be at least 1, got ", steps);
  check(0 < sigma_min && sigma_min < sigma_max,
        "grid: wanted 0 < sigma_min < sigma_max, got ",
        sigma_min,
        " and ",
        sigma_max);
  check(rho > 0, "grid: rho must be > 0, got ", rho);
  const Tensor fraction =
      at::arange(steps, at::kDouble) / static_cast<double>(std::max<int64_t>(steps - 1, 1));
  const Tensor zero = at::zeros({1}, at::kDouble);
  if (kind == "edm") {
    const double high = std::pow(sigma_max, 1 / rho), low = std::pow(sigma_min, 1 / rho);
    return at::cat({schedule.time((high + fraction * (low - high)).pow(rho)), zero});
  }
  if (kind == "log_sigma") {
    const double high = std::log(sigma_max), low = std::log(sigma_min);
    return at::cat({schedule.time((high + fraction * (low - high)).exp()), zero});
  }
  check(kind == "uniform", "unknown grid \"", kind, "\"; wanted edm, log_sigma or uniform");
  const double first = schedule.time(scalar(sigma_max)).item<double>();
  return at::linspace(first, 0, steps + 1, at::kDouble);
}

}  // namespace eps
