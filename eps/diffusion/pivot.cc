// The posterior pivot and its covariance.
#include "eps/diffusion/pivot.h"

namespace eps {

// The division costs a pass over memory, so a CPU scalar alpha = 1, which is free to read, skips
// it.
Tensor rescaled(const Tensor& x_t, const Coefficients& c) {
  const bool known = c.alpha.dim() == 0 && c.alpha.device().is_cpu();
  return known && c.alpha.item<double>() == 1 ? x_t : x_t / c.alpha;
}

Tensor pivot(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  return problem.A->proximal(
      rescaled(x_t, c), problem.y, (problem.sigma_y * c.alpha / c.beta).square());
}

Tensor pivot_variance(const Tensor& e, const Tensor& sigma_squared, const Tensor& sigma_y_squared) {
  // The 1 added where e = 0 cancels; it prevents 0/0 when sigma_y is 0.
  const Tensor noise = sigma_y_squared + (e == 0);
  return sigma_squared * noise / (noise + e * sigma_squared);
}

Tensor pivot_covariance(const LinearOperator& A,
                        const Tensor& sigma_y,
                        const Tensor& sigma,
                        const Tensor& v) {
  // Woodbury's form, sigma^2 (I - A'(AA' + lambda I)^{-1} A), cancels along measured directions.
  // The filter does not (but for blur_pool's), so the filter is preferred.
  const Spectral* spectral = A.spectral();
  if (!spectral) {
    const Tensor lambda = (sigma_y / sigma).square();
    return per_sample(sigma.square(), v) * (v - A.ridge(A.apply(v), lambda));
  }
  return spectral->filter(v, [&](const Tensor& e) {
    return pivot_variance(e, per_sample(sigma.square(), e), per_sample(sigma_y.square(), e));
  });
}

Tensor high_noise_pivot(const Problem& problem, const Tensor& x_t) {
  return problem.A->proximal(x_t, problem.y, scalar(0));
}

Tensor exact_guidance(const Tensor& posterior_mean,
                      const Tensor& prior_mean,
                      const Coefficients& c) {
  return c.alpha / c.beta.square() * (posterior_mean - prior_mean);
}

Tensor equivalent_sigma(const Tensor& gamma, const Tensor& sigma_y, const Coefficients& c) {
  return pivot_variance(gamma.square(), c.sigma().square(), sigma_y.square()).sqrt();
}

}  // namespace eps
