// MMPS (Rozet et al. 2024) estimates E[x0 | x, y] as if x0 given x were Gaussian with the
// covariance of Tweedie's formula, s^2 J.
//
//   E[x0 | x, y] ~ D + s^2 J'A'v,  (sigma_y^2 I + s^2 A J'A') v = y - A D
//
// by a fixed number of conjugate-gradient steps from v = 0, each with one product with J', and one
// more for J'A'v. J' stands for J: a posterior's mean has a symmetric Jacobian, a network only
// nearly. Exact for a Gaussian prior after as many steps as there are measurements.
#include "eps/math/conjugate_gradients.h"
#include "eps/methods/estimate.h"

namespace eps {
namespace {

// Returns v after this many conjugate-gradient steps on M v = b, each image for itself. An image
// stands still once its residual has shrunk by 1e-10, and restarts along the residual where M is
// not positive along its direction. Unlike conjugate_gradients(), which must converge, this
// function returns the unfinished v, without waiting for the device.
Tensor krylov_solution(const std::function<Tensor(const Tensor&)>& M,
                       const Tensor& b,
                       int64_t iterations) {
  Tensor v = at::zeros_like(b), r = b, p = b;
  Tensor rho = batch_dot(r, r);
  const Tensor goal = rho * 1e-20, zero = at::zeros_like(rho), one = at::ones_like(rho);
  for (int64_t i = 0; i < iterations; ++i) {
    const Tensor q = M(p);
    const Tensor curvature = batch_dot(p, q);
    const Tensor active = at::logical_and(rho > goal, curvature > 0);
    const Tensor alpha = at::where(active, rho / at::where(active, curvature, one), zero);
    v = v + alpha * p;
    r = r - alpha * q;
    const Tensor next = batch_dot(r, r);
    p = r + at::where(active, next / at::where(active, rho, one), zero) * p;
    rho = next;
  }
  return v;
}

Tensor mmps(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const int64_t iterations = options.integer("iterations");
  const LinearOperator& A = oracle.A();
  const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
    const Linearisation D = oracle.linearise(x, sigma);
    const auto covariance_times = [&](const Tensor& image) -> Tensor {
      return sigma.square() * D.vjp(image);
    };
    const Tensor r = residual(oracle, D.mean());
    const Tensor noise_variance = per_sample(oracle.sigma_y().square(), r);
    const auto M = [&](const Tensor& v) -> Tensor {
      return noise_variance * v + A.apply(covariance_times(A.adjoint(v)));
    };
    return D.mean() + covariance_times(A.adjoint(krylov_solution(M, r, iterations)));
  };
  return sample_with(estimate, oracle, options, noise, rng);
}

EPS_METHOD({.name = "mmps",
            .summary = "Gaussian with the denoiser's own covariance s^2 J (Rozet et al. 2024)",
            .fields = joined(sampler_fields(100, "dpmpp_2m"),
                             {Field::integer("iterations",
                                             "5",
                                             at_least(1),
                                             "conjugate-gradient steps for each mean")}),
            .sample = mmps});

}  // namespace
}  // namespace eps
