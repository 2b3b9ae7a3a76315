// Chi-square of the residual y - A x.
#include "eps/metrics/consistency.h"

namespace eps {

Tensor chi_square(const Problem& problem, const Tensor& images) {
  const Tensor &sigma = problem.sigma_y, least = sigma.min();
  check(least.item<double>() > 0,
        "chi_square: sigma_y must be above 0, got ",
        least.item<double>(),
        "; without noise every residual is infinitely unlikely");
  const LinearOperator& A = *problem.A;
  const Tensor prediction = A.apply(images.to(at::kDouble));
  const Tensor residual = A.format().measured(problem.y.to(at::kDouble) - prediction);
  return (residual / per_sample(sigma, residual)).square().flatten(1).sum(1) /
         problem.measurements();
}

}  // namespace eps
