// The posterior pivot and its covariance.
#include "eps/diffusion/pivot.h"

#include <cmath>

#include "eps/math/conjugate_gradients.h"

namespace eps {

// The division costs a pass over memory, so a CPU scalar alpha = 1, which is free to read, skips
// it.
Tensor rescaled(const Tensor& x_t, const Coefficients& c) {
  const bool known = c.alpha.dim() == 0 && c.alpha.device().is_cpu();
  return known && c.alpha.item<double>() == 1 ? x_t : x_t / c.alpha;
}

namespace {

Tensor lambda_of(const Problem& problem, const Coefficients& c) {
  return (problem.sigma_y * c.alpha / c.beta).square();
}

}  // namespace

Tensor pivot(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  return problem.A->proximal(rescaled(x_t, c), problem.y, lambda_of(problem, c));
}

Tensor PivotPath::next(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  const LinearOperator& A = *problem.A;
  if (A.closed_form() || !(problem.sigma_y > 0).all().item<bool>()) return pivot(problem, x_t, c);
  const Tensor z = rescaled(x_t, c).to(at::kDouble);
  const Tensor lambda = per_sample(lambda_of(problem, c), z).to(z.options());
  const Tensor b = A.adjoint(problem.y.to(at::kDouble)) + lambda * z;
  // M = A'A + lambda is sigma_y^2 Sigma_star^{-1}.
  const double pixels = static_cast<double>(z[0].numel());
  const Tensor unit = per_sample(problem.sigma_y.square(), z).to(z.options()) * pixels;
  const bool same = last_.defined() && last_.sizes() == z.sizes() && last_.device() == z.device();
  const Solution found =
      solve_conjugate_gradients([&](const Tensor& u) { return A.adjoint(A.apply(u)) + lambda * u; },
                                b,
                                {.tolerance = 1e-12,
                                 .max_iterations = 30000,
                                 .start = same ? last_ : z,
                                 .energy = unit * (kError * kError),
                                 .smallest = lambda});
  last_ = found.u;
  iterations_ += found.iterations;
  error_ = std::max(error_, std::sqrt((found.energy / unit).max().item<double>()));
  return found.u.to(x_t.scalar_type());
}

Tensor pivot_variance(const Tensor& e, const Tensor& sigma_squared, const Tensor& sigma_y_squared) {
  const auto known = [](const Tensor& t) { return t.dim() == 0 && t.is_cpu(); };
  if (known(sigma_squared) && known(sigma_y_squared)) {
    // Two numbers are free to read, and then half as many operations do.
    const auto v = sigma_squared.item<double>(), noise = sigma_y_squared.item<double>();
    if (noise > 0) return (e * (1 / noise) + 1 / v).reciprocal();
  }
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
