// RePaint (Lugmayr et al. 2022, Alg. 1), on EDM's noise levels, takes known pixels from the
// measurement, noised to the level of the state, and the others from an ancestral step of the
// prior.
//
//   known:    x' = y + s' z
//   unknown:  x' = D + sqrt(s'^2 - r^2) (x - D)/s + r z',  r = s' sqrt(1 - s'^2/s^2)
//
// So that the two agree, the way down is walked in stretches of `jump` levels, counted from the
// lowest, and each stretch `resamples` times: at its end noise is added to get back to its
// beginning. The topmost stretch, if shorter than the others, and the step to 0 are walked once.
// The authors go back level by level, which is the same in law.
//
// sigma_y is ignored, as published: the samples keep y, with its noise, on the known pixels.
#include "eps/diffusion/sampler.h"
#include "eps/methods/descent.h"

namespace eps {
namespace {

// Returns 1 where a pixel is known and 0 elsewhere, in the shape of an image.
Tensor known_pixels(const Oracle& oracle, const Tensor& like) {
  constexpr const char* wanted =
      "repaint: needs an operator that keeps or drops pixels (inpaint_...), ";
  const Spectral* spectral = oracle.A().spectral();
  check(spectral && spectral->basis() == Basis::pixel,
        wanted,
        "and A'A of this one is not diagonal in them");
  const Tensor kept = spectral->filter(at::ones_like(like), [](const Tensor& e) { return e; });
  check(at::logical_or(kept == 0, kept == 1).all().item<bool>(),
        wanted,
        "and this one weighs them: A'A has eigenvalues other than 0 and 1");
  return kept;
}

Tensor repaint(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const int64_t jump = options.integer("jump");
  const int64_t resamples = options.integer("resamples");
  const Tensor known = known_pixels(oracle, noise), y = oracle.A().adjoint(oracle.y());
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  const int64_t steps = levels.numel() - 1;
  const auto fresh = [&] { return rng.normal(noise.sizes().vec(), noise.options()); };

  Tensor x = levels[0] * noise;
  int64_t walks = 0;  // of the stretch above the present level
  for (int64_t i = 0; i < steps;) {
    const Tensor sigma = levels[i], next = levels[i + 1];
    const Tensor D = oracle.denoise(x, sigma);
    const Tensor unknown =
        ddim_step(D, (x - D) / sigma, sigma, next, 1, DdimConvention::ancestral, rng);
    x = at::where(known == 1, y + next * fresh(), unknown);
    ++i;
    const bool ends_stretch = i >= jump && i < steps && (steps - 1 - i) % jump == 0;
    if (!ends_stretch) continue;
    if (++walks == resamples) {
      walks = 0;
      continue;
    }
    x = x + (levels[i - jump].square() - levels[i].square()).sqrt() * fresh();
    i -= jump;
  }
  return x;
}

EPS_METHOD(
    {.name = "repaint",
     .summary = "inpainting by replacing known pixels and resampling (Lugmayr et al. 2022)",
     .fields = joined(level_fields(250),
                      {Field::integer("jump", "10", at_least(1), "levels in a stretch"),
                       Field::integer("resamples", "10", at_least(1), "passes over each stretch")}),
     .sample = repaint});

}  // namespace
}  // namespace eps
