// Annealed Langevin dynamics combine Song and Ermon's steps (2019, Alg. 1) for the prior with the
// annealed likelihood of Jalal et al. (2021) for the measurement.
//
// At each noise level s, `inner` steps of size a = step_size s^2 along the score of
// p_s(x) N(y; A x, (sigma_y^2 + s^2) I):
//   x <- x + a [(D - x)/s^2 + A'(y - A x)/(sigma_y^2 + s^2)] + sqrt(2 a) n.
// Departure: consistent=1 takes sqrt(2 a (1 - step_size/2)) n, with which steps of this size keep
// noise of level s on x where that is all there is, and not 1/(1 - step_size/2) times its variance
// (Jolicoeur-Martineau et al. 2021). The noise on x then agrees with the s that the network is
// given; noise beyond s would survive and grow into texture.
//
// The curvature of both terms together is at most (1 + |A|^2)/s^2, so that a step_size below
// 2/(1 + |A|^2) is stable at every level, whatever sigma_y. The last state is denoised once, since
// it has noise of sigma_min on it.
//
// Bias: with consistent=0 exact as inner grows and sigma_min falls, for s -> 0 leaves the posterior
// itself, of which a step is then but a small part. With few steps the state lags behind: mean and
// spread are those of a level at which a posterior's width could still be crossed, and the spread
// is too large.
#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor score_als(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double step_size = options.real("step_size");
  const int64_t inner = options.integer("inner");
  const double kept = options.flag("consistent") ? 1 - step_size / 2 : 1;
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options)),
               noise_variance = oracle.sigma_y().square();
  return descend(levels[0] * noise, levels, [&](Tensor x, const Tensor& sigma, const Tensor& next) {
    const Tensor a = step_size * sigma.square();
    const Tensor pull = a / (noise_variance + sigma.square());
    for (int64_t i = 0; i < inner; ++i) {
      const Tensor D = oracle.denoise(x, sigma);
      x = x + step_size * (D - x) + pull * oracle.A().adjoint(residual(oracle, x)) +
          (2 * a * kept).sqrt() * rng.normal(x.sizes().vec(), x.options());
    }
    return next.item<double>() == 0 ? oracle.denoise(x, sigma) : x;
  });
}

EPS_METHOD(
    {.name = "score_als",
     .summary = "annealed Langevin dynamics (Song and Ermon 2019; Jalal et al. 2021)",
     .fields = joined(
         level_fields(100),
         {Field::integer("inner", "5", at_least(1), "Langevin steps at each level"),
          Field::real("step_size", "0.5", {0, 1}, "size of a step, in units of sigma^2"),
          Field::flag("consistent", "1", "1: noise corrected for the step size; 0: Langevin's")}),
     .sample = score_als});

}  // namespace
}  // namespace eps
