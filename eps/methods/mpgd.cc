// MPGD (He et al. 2024), here without an autoencoder, moves the denoised image against the gradient
// of the residual's norm, and DDIM continues from there. The denoiser is not differentiated.
//
//   x0 = D - zeta A'(A D - y)/|A D - y|,  x' = DDIM(x0, e) with the noise of D, e = (x - D)/s
//
// The step has the length zeta |A'u| of a unit vector u, however small the residual is: at the last
// level, too. Norms are per image. The authors' code divides zeta by the square root of VP's
// alpha-bar, so that it grows with the noise; here it is the same at all levels.
#include "eps/methods/ddim.h"

namespace eps {
namespace {

Tensor mpgd(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double zeta = options.real("zeta"), eta = options.real("eta");
  const DdimConvention convention = ddim_convention(options);
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  return descend(
      levels[0] * noise, levels, [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
        const Tensor D = oracle.denoise(x, sigma);
        const Tensor x0 = D - zeta * residual_norm_gradient(oracle, D);
        return ddim_step(x0, (x - D) / sigma, sigma, next, eta, convention, rng);
      });
}

EPS_METHOD({.name = "mpgd",
            .summary = "gradient of the residual's norm at the denoised image (He et al. 2024)",
            .fields = joined(
                joined(level_fields(100), ddim_fields("0.85", "ancestral")),
                {Field::real("zeta", "20", at_least(0), "step along the gradient of |y - A x0|")}),
            .kinds = {{"mask", "zeta=20"},
                      {"box", "zeta=15"},
                      {"pooling", "zeta=30"},
                      {"gaussian_blur", "zeta=5"},
                      {"motion_blur", "zeta=9"}},
            .sample = mpgd});

}  // namespace
}  // namespace eps
