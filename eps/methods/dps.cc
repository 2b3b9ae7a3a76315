// DPS (Chung et al. 2023, Alg. 1), on EDM's noise levels, takes an Euler step of the prior, then a
// step against the gradient of the residual of the denoised image.
//
//   x' = x + (s' - s)(x - D)/s - scale grad_x |y - A D(x, s)|
//
// The gradient is that of the norm, not of its square: the published step zeta'/|r| grad |r|^2 is
// this one with scale = 2 zeta'; the authors' code differentiates the norm. Norms are per image.
#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor dps(Oracle& oracle, const Spec& options, const Tensor& noise, Rng&) {
  const double scale = options.real("scale");
  const bool clip = options.flag("clip");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  return descend(
      levels[0] * noise, levels, [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
        const Linearisation D = oracle.linearise(x, sigma);
        const Tensor mean = clip ? D.mean().clamp(-1, 1) : D.mean();
        // Clipping passes on no gradient where it acts.
        const Tensor downhill = residual_norm_gradient(oracle, mean) * (mean == D.mean());
        return mean + next / sigma * (x - mean) - scale * D.vjp(downhill);
      });
}

EPS_METHOD({.name = "dps",
            .summary = "gradient of the residual's norm through the denoiser (Chung et al. 2023)",
            .fields = joined(
                level_fields(250),
                {Field::real("scale", "5", at_least(0), "step along the gradient of |y - A D(x)|"),
                 Field::flag("clip", "0", "1: clip D to [-1, 1], as the authors do")}),
            .kinds = {{"mask", "scale=5"},
                      {"box", "scale=10"},
                      {"pooling", "scale=10"},
                      {"gaussian_blur", "scale=1.5"},
                      {"motion_blur", "scale=2.5"}},
            .sample = dps});

}  // namespace
}  // namespace eps
