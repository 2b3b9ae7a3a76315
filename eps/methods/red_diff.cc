// RED-diff (Mardani et al. 2024, Alg. 1) finds the image mu of least energy by Adam, where each
// step compares the noise added to mu with the denoiser's estimate of that noise.
//
// For each noise level s from high to low, with no derivative of the denoiser,
//   x = mu + s n,  e = (x - D)/s,  g = w A'(A mu - y) + lambda s (e - n),
// and mu moves along g by Adam(lr, 0.9, 0.99). balance=sums has w = data_weight. The authors' two
// losses are means, over m measurements and d pixels, so that the data count d/m times more:
// balance=means has w = data_weight d/m, 16 for pooling by 4, 3.3 where 70% of the pixels miss.
//
// The mean of s (e - n) over n is that of -s^2 grad log p_s(mu + s n). So a level s weighs the
// prior as if the noise on y were s sqrt(lambda/w), and as s falls nothing keeps mu from
// fitting the noise. Hence the grid ends where this is sigma_y: with sums, sigma_min = 0.1 is right
// for sigma_y = 0.05 and any operator; with means it would be 0.1 sqrt(d/m), different for each
// image of a batch.
//
// Departures: the balance; sigma_min (the authors use all levels, for little noise or none); lr
// falls to 0 over the last `decay` of the steps, since at a constant one mu is left shaken by the
// last few n; and mu starts at A'(AA' + 4 sigma_y^2)^{-1} y, the answer for a prior N(0, I/4), in
// place of A^+ y, which is all noise where A is nearly singular.
//
// Bias: mu is a point by design. Its only spread is the rest of the shaking, and mu tends to the
// mode of the posterior with the prior smoothed by sigma_min, not to a sample.
#include "eps/math/adam.h"
#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor red_diff(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double lambda = options.real("lambda"), lr = options.real("lr");
  Tensor data_weight = scalar(options.real("data_weight"));
  if (options.text("balance") == "means")
    data_weight = data_weight * static_cast<double>(noise[0].numel()) /
                  oracle.problem().measurements().clamp_min(1).reshape({-1, 1, 1, 1});
  const double decay = options.real("decay");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  const int64_t steps = levels.numel() - 1;
  const Tensor start = oracle.A().ridge(oracle.y(), 4 * oracle.sigma_y().square());
  const Tensor mu = start.expand_as(noise).clone(at::MemoryFormat::Contiguous);
  Adam adam(mu, {.beta1 = 0.9, .beta2 = 0.99});
  for (int64_t k = 0; k < steps; ++k) {
    const Tensor n = k == 0 ? noise : rng.normal(mu.sizes().vec(), mu.options());
    const Tensor x = mu + levels[k] * n;
    const Tensor e = (x - oracle.denoise(x, levels[k])) / levels[k];
    const double left = static_cast<double>(steps - k) / static_cast<double>(steps);
    adam.step(lambda * levels[k] * (e - n) - data_weight * oracle.A().adjoint(residual(oracle, mu)),
              left < decay ? lr * left / decay : lr);
  }
  return mu;
}

EPS_METHOD(
    {.name = "red_diff",
     .summary = "one image of least energy by Adam, without spread (Mardani et al. 2024)",
     .fields = joined(
         with_defaults(level_fields(1000), {{"sigma_min", "0.1"}}),
         {Field::real("lambda", "0.25", at_least(0), "weight of the prior, per unit of sigma"),
          Field::real("data_weight", "1", at_least(0), "weight of |y - A mu|^2/2"),
          Field::choice("balance",
                        "sums",
                        {"sums", "means"},
                        "the two losses: sums; or means, as the authors', over each one's numbers"),
          Field::real("lr", "0.1", at_least(0), "Adam's step"),
          Field::real("decay", "0.2", {0, 1}, "part of the steps over which lr falls to 0")}),
     .sample = red_diff});

}  // namespace
}  // namespace eps
