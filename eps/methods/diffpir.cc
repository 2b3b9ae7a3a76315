// DiffPIR (Zhu et al. 2023), on EDM's noise levels, splits the problem half-quadratically: the
// denoiser solves the prior's half and a proximal step the measurement's.
//
//   x0 = argmin |y - A x|^2 + rho |x - D|^2,  rho = lambda sigma_y^2/s^2
//   x' = x0 + s' (sqrt(1 - zeta) n + sqrt(zeta) z),  n = (x - x0)/s: the noise of the corrected x0
//
// With lambda = 1, x0 is the pivot with D in place of x. Departures: EDM's grid instead of steps
// spaced as sqrt(linspace(0, T^2)); the first state is noise instead of a noised y; the last
// iteration, which the authors leave without its data step, returns D, where their code keeps the
// slightly noisy x that it began with. Their code takes sigma_y of images in [0, 1] but s of images
// in [-1, 1]: their lambda is 4 times this one.
#include <cmath>

#include "eps/methods/descent.h"

namespace eps {
namespace {

Tensor diffpir(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double lambda = options.real("lambda"), zeta = options.real("zeta");
  const bool skip_last = options.flag("skip_last");
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  return descend(
      levels[0] * noise, levels, [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
        const Tensor D = oracle.denoise(x, sigma);
        const bool last = next.item<double>() == 0;
        if (last && skip_last) return D;
        const Tensor rho = lambda * (oracle.sigma_y() / sigma).square();
        const Tensor x0 = oracle.A().proximal(D, oracle.y(), rho);
        if (last) return x0;
        const Tensor z = rng.normal(x.sizes().vec(), x.options());
        return x0 + next * (std::sqrt(1 - zeta) * (x - x0) / sigma + std::sqrt(zeta) * z);
      });
}

// The default lambda is the authors' 7 in these units; zeta by kind is that of their configurations
// for inpainting, deblurring and super-resolution.
EPS_METHOD(
    {.name = "diffpir",
     .summary = "a proximal step from the denoised image (Zhu et al. 2023)",
     .fields = joined(
         level_fields(100),
         {Field::real(
              "lambda", "1.75", at_least(0), "weight of the denoised image in the proximal step"),
          Field::real("zeta", "0.3", {0, 1}, "fraction of the noise's variance that is fresh"),
          Field::flag("skip_last", "1", "1: no data step in the last iteration")}),
     .kinds = {{"mask", "zeta=1"},
               {"box", "zeta=1"},
               {"pooling", "zeta=0.25"},
               {"gaussian_blur", "zeta=0.1"},
               {"motion_blur", "zeta=0.1"}},
     .sample = diffpir});

}  // namespace
}  // namespace eps
