// Most methods share the grid of noise levels, the loop down this grid, and sums image by image.
#pragma once

#include "eps/diffusion/schedule.h"
#include "eps/methods/method.h"

namespace eps {

// Returns the fields steps, sigma_max, sigma_min and rho of EDM's grid.
std::vector<Field> level_fields(int64_t steps);
// Returns the fields with the defaults in `values`, by name.
std::vector<Field> with_defaults(std::vector<Field> fields,
                                 const std::map<std::string, std::string>& values);
std::vector<Field> joined(std::vector<Field> a, const std::vector<Field>& b);

// Returns EDM's grid by these fields, for noise_levels().
GridOptions grid_options(const Spec& options);

// Takes x = step(x, sigma, sigma_next) from the highest of the levels down to sigma_next = 0.
template <class Step>
Tensor descend(Tensor x, const Tensor& levels, const Step& step) {
  for (int64_t i = 0; i + 1 < levels.numel(); ++i) x = step(x, levels[i], levels[i + 1]);
  return x;
}

// Returns y - A x, and 0 where nothing was measured.
Tensor residual(const Oracle& oracle, const Tensor& x);

// Returns |a| of each image, to broadcast over a; at least 1e-12, to divide by.
Tensor per_image_norm(const Tensor& a);

// Returns the gradient of |y - A x0| with respect to x0, A'(A x0 - y)/|A x0 - y|: a vector no
// longer than |A|.
Tensor residual_norm_gradient(const Oracle& oracle, const Tensor& x0);

}  // namespace eps
