// PiGDM (Song et al. 2023, Alg. 1), on EDM's noise levels, adds to DDIM's step of the prior an
// estimate of the score of y, which takes x0 given x to be Gaussian around D with covariance r^2 I.
//
//   x' = DDIM(x, D) + zeta g,  g = J' r^2 A'(r^2 AA' + sigma_y^2 I)^{-1} (y - A D)
//   r^2 = s^2 v/(s^2 + v) for data of variance v
//
// J is the denoiser's Jacobian at x; the vector it meets is held constant. The published v is 1.
// The weight of g is the authors' adaptive one: with r^2 A' replaced by A' it is the score.
// Deviates from Alg. 1 in the grid, and in that zeta may scale g.
#include "eps/methods/ddim.h"

namespace eps {
namespace {

Tensor pigdm(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double zeta = options.real("zeta"), eta = options.real("eta");
  const Tensor v = scalar(options.real("data_std")).square();
  const DdimConvention convention = ddim_convention(options);
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  return descend(
      levels[0] * noise, levels, [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
        const Linearisation D = oracle.linearise(x, sigma);
        // The map r^2 A'(r^2 AA' + sigma_y^2 I)^{-1} is ridge at sigma_y^2/r^2.
        const Tensor r_squared = sigma.square() * v / (sigma.square() + v);
        const Tensor pulled =
            oracle.A().ridge(residual(oracle, D.mean()), oracle.sigma_y().square() / r_squared);
        const Tensor e = (x - D.mean()) / sigma;
        return ddim_step(D.mean(), e, sigma, next, eta, convention, rng) + zeta * D.vjp(pulled);
      });
}

EPS_METHOD(
    {.name = "pigdm",
     .summary = "pseudo-inverse guidance through the denoiser (Song et al. 2023)",
     .fields = joined(
         joined(level_fields(100), ddim_fields("1", "ancestral")),
         {Field::real("zeta", "1", at_least(0), "factor of the guidance"),
          Field::real("data_std", "1", positive(), "the data's standard deviation; published: 1")}),
     .sample = pigdm});

}  // namespace
}  // namespace eps
