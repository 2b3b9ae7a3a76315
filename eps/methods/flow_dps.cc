// FlowDPS (Kim et al. 2025) follows the rectified flow x_t = (1 - t) x0 + t n. The times are
// equally spaced in u and shifted, t = shift u/(1 + (shift - 1) u), which multiplies s = t/(1 - t)
// by shift; the authors have shift = 4. On the scale z = x_t/(1 - t), s = t/(1 - t) of the denoiser
// D(z, s):
//
//   n1 = (z - D)/s
//   x0 = (1 - t) D + t u, u after gradient_steps of u -= step A'(A u - y)/|A|^2 from u = D
//   z' = x0 + s' (sqrt(t') n1 + sqrt(1 - t') n), n fresh
//
// which ends in x0 at t' = 0. Deviates from the paper: pixels in place of a latent space, so no
// decoder is differentiated; no text and no guidance by it; t starts at sigma_max/(1 + sigma_max);
// and the steps are those of gradient descent on |y - A u|^2/2, where the authors' code steps by a
// fixed length along the gradient of |A'(y - A u)|, or of |A^+(y - A u)| for super-resolution. With
// step = 1 descent cannot overshoot, and one step meets the measurements of a multiple of a
// projection. |A| is found by power iteration.
#include "eps/methods/descent.h"
#include "eps/operators/norm.h"

namespace eps {
namespace {

Tensor flow_levels(const Oracle& oracle, const Spec& options) {
  GridOptions grid;
  grid.kind = "uniform";
  grid.steps = options.integer("steps");
  const double shift = options.real("shift");
  grid.sigma_max = options.real("sigma_max") / shift;
  const Tensor uniform = rectified_flow().at(time_grid(rectified_flow(), grid)).sigma();
  return oracle.denoiser().levels(shift * uniform);
}

Tensor flow_dps(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const int64_t gradient_steps = options.integer("gradient_steps");
  const Tensor step = options.real("step") / squared_norm(oracle.A(), noise).clamp_min(1e-12);
  const Tensor levels = flow_levels(oracle, options);
  return descend(
      levels[0] * noise, levels, [&](const Tensor& z, const Tensor& sigma, const Tensor& next) {
        const Tensor t = rectified_flow().time(sigma), t_next = rectified_flow().time(next);
        const Tensor D = oracle.denoise(z, sigma);
        Tensor u = D;
        for (int64_t i = 0; i < gradient_steps; ++i)
          u = u + step * oracle.A().adjoint(residual(oracle, u));
        const Tensor x0 = D + t * (u - D);
        const Tensor fresh = rng.normal(z.sizes().vec(), z.options());
        return x0 + next * (t_next.sqrt() / sigma * (z - D) + (1 - t_next).sqrt() * fresh);
      });
}

EPS_METHOD({.name = "flow_dps",
            .summary = "descent on the residual at the denoised image of a flow (Kim et al. 2025)",
            .fields = {Field::integer(
                           "steps", "100", at_least(1), "times, equally spaced before the shift"),
                       Field::real("sigma_max", "80", at_least(0.01), "highest noise level"),
                       Field::integer("gradient_steps",
                                      "3",
                                      at_least(0),
                                      "steps of gradient descent on |y - A x0|^2/2"),
                       Field::real("step", "1", {0, 2}, "length of a step, over 1/|A|^2"),
                       Field::real("shift", "4", positive(), "of the times towards noise")},
            .sample = flow_dps});

}  // namespace
}  // namespace eps
