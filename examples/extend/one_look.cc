// One look at the prior, one at the measurement: the denoised image, moved towards y where y says
// something. It is no sampler, but an example of a method.
//
//   x = D + ridge(y - A D, lambda),  D = D(sigma n, sigma)
#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor one_look(Oracle& oracle, const Spec& options, const Tensor& noise, Rng&) {
  const Tensor sigma = scalar(options.real("sigma"));
  const Tensor D = oracle.denoise(sigma * noise, sigma);
  return D + oracle.A().ridge(residual(oracle, D), scalar(options.real("lambda")));
}

EPS_METHOD(
    {.name = "one_look",
     .summary = "the denoised image, moved towards y",
     .fields = {Field::real("sigma", "80", positive(), "noise level of the prior's denoiser"),
                Field::real("lambda", "1", at_least(0), "weight of the denoised image")},
     .kinds = {{"gaussian_blur", "lambda=0.1"}},
     .sample = one_look});

}  // namespace
}  // namespace eps
