// Posterior samples with an exact prior: their mean and spread are the closed-form ones.
#include <cstdio>

#include "eps/diffusion/sampler.h"
#include "eps/math/spectrum.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"

int main() {
  using namespace eps;
  const Stationary prior(at::zeros({3, 64, 64}), natural_spectrum(64, 64));
  Rng rng(0);
  const Tensor x0 = prior.sample(rng, {1, 3, 64, 64});
  const Operator A = make_operator("blur_gaussian:std=2,size=11", x0, rng);
  const Problem problem = observe(A, x0, scalar(0.05), rng);

  SamplerOptions options;
  options.solver = "heun";
  Rng streams(1, 16);  // one stream per sample
  const Mean mean = posterior_mean(prior, problem, edm());
  const Tensor samples = sample(mean, edm(), {16, 3, 64, 64}, options, streams);

  const Stationary::Posterior exact = prior.posterior(problem);
  const double spread = spectral_mean(exact.spectrum, 64).sqrt().item<double>();
  const Tensor error = samples.mean(0, true) - exact.mean;
  std::printf("posterior spread, rms over frequencies: %.4f\n", spread);
  std::printf("spread of 16 samples:                   %.4f\n",
              samples.var(0).mean().sqrt().item<double>());
  std::printf("their mean is off by:                   %.4f (spread / 4 expected)\n",
              error.square().mean().sqrt().item<double>());
}
