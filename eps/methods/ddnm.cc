// DDNM (Wang et al. 2023), on EDM's noise levels, replaces the range-space part of the denoised
// image by the measurement's and takes a DDIM step from there. Three rules serve noisy y, with
// r = y - A D:
//
//   scalar    x0 = D + lambda A^+ r, lambda = s^2/(s^2 + sigma_y^2)
//   wiener    x0 = D + lambda A'(A A' + epsilon)^{-1} r, for blur: a regularised inverse of each
//             frequency. Without lambda the last step would put the noise of y, up to 1/(2
//             sqrt(epsilon)) times as large, on an image that nothing denoises any more.
//   singular  DDNM+: lambda and the noise by singular value, in singular_values.h (eta_b = 1)
//
// scalar and wiener are the rules of the paper's Table baseline-configs; wiener is the default for
// every blur. Its epsilon, 1e-3, lets
// the noise of y through 16 times larger, and the samples keep it; the default for blurs is 0.2,
// found on faces (docs/results/step_sizes.md). Then
//
//   x' = x0 + s' (sqrt(1 - eta^2) n + eta z),  n = (x - D)/s,
//
// with the network's own noise n, as the authors' code does, not that of the corrected x0. Neither
// rule takes the noise of y out of the fresh noise.
//
// singular departs from the authors' code in this: theirs decomposes separable kernels with a zero
// boundary, and its deblurring of noisy images is known to fail; here any circular blur goes
// frequency by frequency, and lambda <= 1 in each. Theirs keeps n at sigma_y = 0; here that is the
// limit sigma_y -> 0, where the noise of measured components is all fresh.
//
// In the last step s' = 0: scalar and wiener end in x0, singular in D if sigma_y > 0.
#include "eps/methods/ddim.h"
#include "eps/methods/singular_values.h"

namespace eps {
namespace {

Tensor ddnm(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const std::string rule = options.text("rule");
  if (rule == "singular") spectral_of(oracle.A(), "ddnm: rule=singular");
  const double eta = options.real("eta");
  const Tensor regularisation = scalar(rule == "wiener" ? options.real("epsilon") : 0);
  const DdimConvention convention = ddim_convention(options);
  const auto corrected = [&](const Tensor& D, const Tensor& sigma) -> Tensor {
    const Tensor lambda = sigma.square() / (sigma.square() + oracle.sigma_y().square());
    return D + per_sample(lambda, D) * oracle.A().ridge(residual(oracle, D), regularisation);
  };
  const Tensor levels = noise_levels(oracle.denoiser(), grid_options(options));
  return descend(
      levels[0] * noise, levels, [&](const Tensor& x, const Tensor& sigma, const Tensor& next) {
        const Tensor D = oracle.denoise(x, sigma);
        if (rule == "singular") {
          const Tensor z = rng.normal(x.sizes().vec(), x.options());
          return singular_value_step(oracle, x, D, sigma, next, eta, /*eta_b=*/1, z);
        }
        return ddim_step(corrected(D, sigma), (x - D) / sigma, sigma, next, eta, convention, rng);
      });
}

EPS_METHOD(
    {.name = "ddnm",
     .summary = "range-space part from y, null-space part from the prior (Wang et al. 2023)",
     .fields = joined(
         joined(level_fields(100), ddim_fields("0.85", "renoise")),
         {Field::choice("rule",
                        "scalar",
                        {"scalar", "wiener", "singular"},
                        "rule for noisy y; singular: DDNM+"),
          Field::real("epsilon", "1e-3", at_least(0), "regularises the inverse of rule=wiener")}),
     .kinds = {{"gaussian_blur", "rule=wiener,epsilon=0.2"},
               {"motion_blur", "rule=wiener,epsilon=0.2"}},
     .sample = ddnm});

}  // namespace
}  // namespace eps
