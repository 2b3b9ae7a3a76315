// One look at the prior, one at the measurement: the denoised image, moved towards y where y says
// something. Not a sampler: it shows what a method may ask.
//
//   x = D + ridge(y - A D, lambda),  D = D(sigma n, sigma)
#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor one_look(Oracle& oracle, const Spec& options, const Tensor& noise, Rng&) {
  const Tensor sigma = scalar(options.real("sigma", 1e-3, 1e3));
  const Tensor D = oracle.denoise(sigma * noise, sigma);
  return D + oracle.A().ridge(residual(oracle, D), scalar(options.real("lambda", 0, 1e6)));
}

EPS_METHOD({.name = "one_look",
            .summary = "the denoised image, moved towards y",
            .fields = {{"sigma", "80", "noise level at which the prior is asked"},
                       {"lambda", "1", "how little y is believed"}},
            .tasks = {{"gaussian_deblurring", "lambda=0.1"}},
            .sample = one_look});

}  // namespace
}  // namespace eps
