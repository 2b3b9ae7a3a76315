// This method samples the prior as if there were no measurement: the reference for the time of
// every other method (App. D, Runtime Analysis, "EDM (uncond.)") and for the worth of the
// measurement.
#include "eps/methods/estimate.h"

namespace eps {
namespace {

Tensor unconditional(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
    return oracle.denoise(x, sigma);
  };
  return sample_with(estimate, oracle, options, noise, rng);
}

EPS_METHOD({.name = "unconditional",
            .summary = "samples of the prior, without the measurement, for reference",
            .fields = sampler_fields(100),
            .sample = unconditional});

}  // namespace
}  // namespace eps
