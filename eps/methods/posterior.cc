// Networks trained for the posterior give EPS, Palette and the inputs between them (App. C, Input
// Configuration Ablation).
//
// The sampler is the backbone's own, with E[x0 | x_t, y] in place of E[x0 | x_t]: Sec. 3, Sampling.
// One step from sigma_max is the posterior mean: Obs. 4, obs:one-step-limit.
//
// Deviates from App. B, Sampling at inference: the default solver is of second order, on a grid
// that is denser at low noise, where the posterior's spread arises. With an exact denoiser 20 such
// steps are at the sampling error, 20 of Euler on EDM's grid are not. The last step keeps the
// spread (estimate.h): sigma_min = 0.01 is a third of the posterior's deviation where pixels are
// measured with sigma_y = 0.05, and a last step to the mean would lose a tenth of their variance.
// The paper's are solver=euler,rho=7,sigma_min=0.002,last=mean.
#include "eps/methods/estimate.h"

namespace eps {
namespace {

Method trained(const char* name, const NetworkInput& input, const char* summary) {
  return {.name = name,
          .summary = summary,
          .input = input,
          .fields = with_defaults(sampler_fields(20, "dpmpp_2m"),
                                  {{"rho", "15"}, {"sigma_min", "0.01"}, {"last", "flow"}}),
          .sample = [input](Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
            const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
              return oracle.posterior_mean(input, x, edm().at(sigma));
            };
            return sample_with(estimate, oracle, options, noise, rng);
          }};
}

EPS_METHOD(trained(
    "eps",
    NetworkInput::eps,
    "exact posterior score: a network of the pivot, y and optionally each pixel's precision"));
EPS_METHOD(trained("palette",
                   NetworkInput::palette,
                   "a network of x_t and y (Saharia et al. 2022)"));
EPS_METHOD(trained("pivot", NetworkInput::pivot, "ablation of eps: a network of the pivot alone"));
EPS_METHOD(trained("pivot_sigma",
                   NetworkInput::pivot_sigma,
                   "ablation of eps: a network of the pivot and its standard deviations"));

}  // namespace
}  // namespace eps
