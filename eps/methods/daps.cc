// DAPS, decoupled annealing posterior sampling (Zhang et al. 2025, Alg. 1), estimates a clean image
// at each of K noise levels, moves it towards the measurement by Langevin dynamics, and adds noise
// of the next level.
//
//   x0hat = the probability-flow ODE from (x, s) almost to 0, ode_steps Euler steps on EDM's grid
//   u <- u - eta_k g + sqrt(2 eta_k) n, mcmc_steps times from u = x0hat,
//        g = A'(A u - y)/tau^2 + (u - x0hat)/s^2
//   x' = u + s' n
//
// with eta_k = eta (1 + k/K (eta_ratio - 1)). The sample is the last u.
//
// g is the gradient of the half square, as published; the authors' code has twice that. tau is
// sigma_y. The authors' 0.01 sharpens a likelihood of sigma_y = 0.05 25 times and wants steps below
// 2 tau^2 = 2e-4; those of the paper's table, up to 9e-4, are stable with sigma_y itself.
// Departure: eta_k is at most 1/(1/s^2 + limit/tau^2), one over the largest curvature where |A|^2
// is `limit`. At the lowest levels of EDM's grid the table's eta_k is more than the 2 s^2 at which
// the steps diverge.
//
// The Langevin steps for a quadratic are linear, so their end is Gaussian given x0hat. chain=law
// draws it at once where A'A is diagonal in a fast basis: the same law, of other random numbers.
//
// Bias: p(x0|x) is not N(x0hat, s^2 I), even for a Gaussian prior; and the chain is too short to
// forget where it began at high levels and at its small last steps.
#include <algorithm>

#include "eps/methods/descent.h"

namespace eps {
namespace {

// Returns the end of the probability-flow ODE from (x, sigma).
Tensor clean_guess(Oracle& oracle, const Spec& options, const Tensor& x, const Tensor& sigma) {
  const int64_t steps = options.integer("ode_steps");
  GridOptions grid;
  grid.steps = steps + 1;
  grid.sigma_max = sigma.item<double>();
  grid.sigma_min = std::min(options.real("ode_end"), grid.sigma_max / 10);
  grid.rho = options.real("rho");
  const Tensor points = time_grid(edm(), grid);  // the denoiser is not evaluated at the last
  const Tensor path =
      at::cat({oracle.denoiser().levels(points.narrow(0, 0, steps)), points[steps].reshape(1)});
  return descend(x, path, [&](const Tensor& state, const Tensor& s, const Tensor& next) {
    const Tensor D = oracle.denoise(state, s);
    return D + next / s * (state - D);
  });
}

// A `Target` holds the quadratic |A u - y|^2/(2 tau^2) + |u - x0hat|^2/(2 s^2) and a step size.
struct Target {
  const LinearOperator& A;
  Tensor back_projection;  // A'y
  Tensor tau_squared, sigma_squared, eta;
};

Tensor langevin_steps(const Target& t, const Tensor& x0hat, int64_t steps, Rng& rng) {
  const Tensor constant = t.back_projection / t.tau_squared + x0hat / t.sigma_squared;
  Tensor u = x0hat;
  for (int64_t j = 0; j < steps; ++j) {
    const Tensor g = t.A.adjoint(t.A.apply(u)) / t.tau_squared + u / t.sigma_squared - constant;
    u = u - t.eta * g + (2 * t.eta).sqrt() * rng.normal(u.sizes().vec(), u.options());
  }
  return u;
}

// Draws the end of the Langevin steps at once. With curvature h, each step contracts by
// b = 1 - eta h and adds 2 eta of variance.
Tensor langevin_law(const Target& t, const Tensor& x0hat, int64_t steps, Rng& rng) {
  const auto curvature = [&](const Tensor& e) {
    return e / per_sample(t.tau_squared, e) + 1 / per_sample(t.sigma_squared, e);
  };
  const auto contraction = [&](const Tensor& e) {
    return (1 - per_sample(t.eta, e) * curvature(e)).pow(steps);
  };
  const Tensor constant = t.back_projection / t.tau_squared + x0hat / t.sigma_squared;
  const Tensor noise = rng.normal(x0hat.sizes().vec(), x0hat.options());
  const Spectral& spectral = spectral_of(t.A, "daps: chain=law");
  return spectral.filter(x0hat, contraction) + spectral.filter(constant, [&](const Tensor& e) {
    return (1 - contraction(e)) / curvature(e);
  }) + spectral.filter(noise, [&](const Tensor& e) {
    // The variance is 2 eta (1 + b^2 + ... + b^(2 steps - 2)).
    const Tensor h = curvature(e), eta = per_sample(t.eta, e);
    return (2 * (1 - contraction(e).square()) / (h * (2 - eta * h))).sqrt();
  });
}

Tensor daps(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double eta = options.real("eta"), eta_ratio = options.real("eta_ratio");
  const double limit = options.real("limit"), tau = options.real("tau");
  const int64_t mcmc_steps = options.integer("mcmc_steps");
  const std::string chain = options.text("chain");
  if (chain == "law") spectral_of(oracle.A(), "daps: chain=law");
  const Tensor tau_squared = (tau > 0 ? scalar(tau) : oracle.sigma_y()).square();
  check((tau_squared > 0).all().item<bool>(), "daps: needs tau > 0 where sigma_y is 0");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  const Tensor back_projection = oracle.A().adjoint(oracle.y());
  const int64_t K = levels.numel() - 1;
  Tensor x = levels[0] * noise;
  for (int64_t k = 0; k < K; ++k) {
    const double part = static_cast<double>(k) / static_cast<double>(K);
    const double annealed = eta * (1 + part * (eta_ratio - 1));
    const Tensor sigma_squared = levels[k].square();
    const Tensor stable = 1 / (1 / sigma_squared + limit / tau_squared);
    const Target target{oracle.A(),
                        back_projection,
                        tau_squared,
                        sigma_squared,
                        limit > 0 ? stable.clamp_max(annealed) : scalar(annealed)};
    const Tensor x0hat = clean_guess(oracle, options, x, levels[k]);
    const Tensor u =
        (chain == "law" ? langevin_law : langevin_steps)(target, x0hat, mcmc_steps, rng);
    x = u + levels[k + 1] * rng.normal(u.sizes().vec(), u.options());  // u itself at the end
  }
  return x;
}

EPS_METHOD(
    {.name = "daps",
     .summary = "decoupled annealing: ODE, Langevin steps, new noise (Zhang et al. 2025)",
     .fields = joined(
         level_fields(100),
         {Field::integer("ode_steps", "5", at_least(1), "evaluations at each level"),
          Field::real(
              "ode_end", "0.01", positive(), "end of the ODE: at most a tenth of the level"),
          Field::integer("mcmc_steps", "100", at_least(0), "Langevin steps at each level"),
          Field::real("eta", "5e-4", at_least(0), "size of the Langevin steps at the first level"),
          Field::real("eta_ratio", "0.01", {0, 1}, "size at the last level, relative to the first"),
          Field::real("tau", "0", at_least(0), "noise of the likelihood; 0: sigma_y"),
          Field::real(
              "limit", "1", at_least(0), "steps are kept stable for this |A|^2; 0: not limited"),
          Field::choice("chain",
                        "steps",
                        {"steps", "law"},
                        "steps: one by one; law: their end drawn at once")}),
     .kinds = {{"mask", "eta=5e-4"},
               {"box", "eta=5e-4"},
               {"pooling", "eta=9e-4,sigma_max=30,sigma_min=0.1"},
               {"gaussian_blur", "eta=9e-4,sigma_max=30,sigma_min=0.1"},
               {"motion_blur", "eta=5e-4"}},
     .sample = daps});

}  // namespace
}  // namespace eps
