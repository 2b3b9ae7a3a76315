// DDRM (Kawar et al. 2022), on EDM's noise levels, diffuses every singular component by itself,
// from the measurement where the measurement is the less noisy and from the prior elsewhere. The
// steps are in singular_values.h; the first state, with z the initial noise, is
//
//   v s_max >= sigma_y: y~ + sqrt(s_max^2 - sigma_y^2/v^2) z,     otherwise: s_max z.
//
// The published grid is uniform in the steps of a VP schedule; here it is EDM's. The last step, to
// s' = 0, gives D, but where sigma_y = 0: there measured components are (1 - eta_b) D + eta_b y~.
#include "eps/methods/singular_values.h"

namespace eps {
namespace {

Tensor ddrm(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  spectral_of(oracle.A(), "ddrm:");
  const double eta = options.real("eta"), eta_b = options.real("eta_b");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  // The first state is the step with fresh noise from a prior without knowledge, D = 0.
  const Tensor none = at::zeros_like(noise), first = levels[0];
  return descend(singular_value_step(oracle, none, none, first, first, 1, 1, noise),
                 levels,
                 [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
                   const Tensor D = oracle.denoise(x, sigma);
                   const Tensor z = rng.normal(x.sizes().vec(), x.options());
                   return singular_value_step(oracle, x, D, sigma, next, eta, eta_b, z);
                 });
}

EPS_METHOD(
    {.name = "ddrm",
     .summary = "a diffusion of each singular component by itself (Kawar et al. 2022)",
     .fields = joined(
         level_fields(20),
         {Field::real("eta", "0.85", {0, 1}, "fresh noise where y is noisier than the state"),
          Field::real("eta_b", "1", {0, 1}, "weight of y where it is less noisy than the state")}),
     .sample = ddrm});

}  // namespace
}  // namespace eps
