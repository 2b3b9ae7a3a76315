// TDS, the twisted diffusion sampler (Wu et al. 2023, Alg. 1), runs sequential Monte Carlo down the
// noise levels, with M particles for each sample.
//
// The prior's chain from s to s' is its ancestral step,
//   p(x'|x) = N(m, v I), m = D + (s'/s)^2 (x - D), v = s'^2 (1 - s'^2/s^2).
// An estimate of p(y|x) twists the chain, the one of PiGDM (Song et al. 2023), where x0 given x is
// N(D, r^2 I):
//   t(x) = N(y; A D(x, s), sigma_y^2 I + r^2 AA'), r^2 = s^2 d^2/(s^2 + d^2), d = data_std.
// Particles move by a step q with guidance, and their weights correct for it:
//   q(x'|x) = N(m + c grad log t(x), v I), w = p(x'|x)/q(x'|x) t'(x')/t(x).
// c is s^2 - s'^2, as if the estimate were right, but at most r^2, PiGDM's weight: at high noise
// the Jacobian of a network is too rough for more, and no weight could undo its effect on
// components that are not measured. The products telescope: whatever the estimate, the weighted
// particles have the law of the prior's chain times the likelihood as M grows. The estimate only
// decides how many particles are enough.
//
// The last step, from sigma_min to 0, has v = 0: x0 = D, with the likelihood itself for t'.
// Resampling is systematic, image by image, and only where the effective number of particles is
// below M/2. The sample is one particle, drawn by weight.
//
// Bias: O(1/M), and the chain's own. Its v leaves out (1 - s'^2/s^2)^2 Cov[x0|x] of the exact
// reverse kernel, so that few levels give too little spread.
#include "eps/methods/particles.h"

namespace eps {
namespace {

Tensor tds(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  check_noisy(oracle, "tds");
  const int64_t images = noise.size(0), particles = options.integer("particles");
  const double data_std = options.real("data_std");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options)),
               noise_variance = oracle.sigma_y().square();
  const auto residuals = [&](const Tensor& x) {
    return per_particle(
        images, [&](const Tensor& one) { return residual(oracle, one); }, x);
  };
  Tensor log_weights = at::zeros({particles, images}, noise.options());  // but for t(x)
  const Tensor x0 =
      descend(levels[0] * initial_particles(particles, noise, rng),
              levels,
              [&](const Tensor& x, const Tensor& sigma, const Tensor& next) -> Tensor {
                const Linearisation D = oracle.linearise(x, sigma);
                const Tensor r2 = 1 / (1 / sigma.square() + 1 / (data_std * data_std));
                const Evidence twist =
                    evidence(oracle.A(), residuals(D.mean()), images, noise_variance, r2);
                const auto [rows, kept] = resample(log_weights + twist.log_density, rng);
                log_weights = kept - twist.log_density.take(rows).view_as(kept);
                const Tensor mean = D.mean().index_select(0, rows);
                if (next.item<double>() == 0) return mean;
                const Tensor ratio = (next / sigma).square(), v = next.square() * (1 - ratio);
                // In units of sqrt(v): q moves p by `shift`, and log p/q = |n|^2/2 - |n +
                // shift|^2/2.
                const Tensor gradient = D.vjp(twist.pull).index_select(0, rows);
                const Tensor c = at::minimum(sigma.square() - next.square(), r2);
                const Tensor shift = c / v.sqrt() * gradient;
                const Tensor n = particle_noise(particles, noise, rng);
                log_weights = log_weights - particle_dot(shift, n + 0.5 * shift, images);
                return mean + ratio * (x.index_select(0, rows) - mean) + v.sqrt() * (n + shift);
              });
  const Tensor likelihood = log_likelihood(residuals(x0), images, noise_variance);
  return draw_particle(x0, log_weights + likelihood, rng);
}

EPS_METHOD(
    {.name = "tds",
     .summary = "twisted diffusion sampler: particles with PiGDM's guidance, weighted to be "
                "exact (Wu et al. 2023)",
     .fields = joined(level_fields(100),
                      {Field::integer("particles", "16", at_least(1), "particles per sample"),
                       Field::real("data_std",
                                   "0.5",
                                   positive(),
                                   "standard deviation of a pixel, for the twist")}),
     .sample = tds});

}  // namespace
}  // namespace eps
