// These methods evaluate a prior at the pivot (App. C, Zero-Shot Pivoting): the input is right, but
// the prior takes the noise on the pivot for isotropic.
#include "eps/methods/estimate.h"

namespace eps {
namespace {

// Evaluates the prior at the noise level of x_t itself.
Tensor zero_shot_pivot(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
    return oracle.denoise(pivot(oracle.problem(), x, edm().at(sigma)), sigma);
  };
  return sample_with(estimate, oracle, options, noise, rng);
}

// Returns the noise level of the noisiest pixel under Sigma_star: equivalent_sigma() where
// A'A = gamma^2 I, and then exact. Elsewhere no single level is right, and a lower one would leave
// noise in the image.
Tensor largest_sigma(const Oracle& oracle, const Tensor& x, const Tensor& sigma) {
  const Tensor sigma_squared = sigma.square(), sigma_y_squared = oracle.sigma_y().square();
  const Tensor variance =
      spectral_of(oracle.A(), "equivalent_time:").diagonal(x, [&](const Tensor& e) {
        return pivot_variance(e, per_sample(sigma_squared, e), per_sample(sigma_y_squared, e));
      });
  // The denoiser needs a noise level above 0, even where no noise is left.
  return variance.expand_as(x).amax({1, 2, 3}, true).sqrt().clamp_min(1e-6);
}

// Evaluates the prior at one noise level for all of Sigma_star (App. A, Equivalent-Time and GLASS
// Limit).
Tensor equivalent_time(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  spectral_of(oracle.A(), "equivalent_time:");
  const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
    return oracle.denoise(pivot(oracle.problem(), x, edm().at(sigma)),
                          largest_sigma(oracle, x, sigma));
  };
  return sample_with(estimate, oracle, options, noise, rng);
}

EPS_METHOD({.name = "zero_shot_pivot",
            .summary = "the prior's denoiser at the pivot, with the noise level of x_t",
            .fields = sampler_fields(100),
            .sample = zero_shot_pivot});
EPS_METHOD(
    {.name = "equivalent_time",
     .summary = "the prior's denoiser at the pivot, with one noise level for Sigma_star; exact "
                "where A'A is a multiple of I (GLASS, Holderrieth et al. 2025)",
     .fields = sampler_fields(100, "dpmpp_2m"),
     .sample = equivalent_time});

}  // namespace
}  // namespace eps
