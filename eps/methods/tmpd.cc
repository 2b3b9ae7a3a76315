// TMPD (Boys et al. 2023) estimates E[x0 | x, y] as if x0 given x were Gaussian with covariance s^2
// J, and the covariance of A x0 diagonal, with its row sums on the diagonal.
//
//   E[x0 | x, y] ~ D + s^2 J'A'v,  v = (y - A D)/(sigma_y^2 + s^2 A J'A'1), entry by entry
//
// J' stands for J. Row sums of a covariance may be negative or 0, which is no variance: here their
// absolute value counts (as 0 they would let a single residual throw the image far off), and
// sigma_y must not be 0. Exact for a Gaussian prior where A J'A' is diagonal. The default sampler
// is ancestral, as the authors' is: it forgets such errors.
#include "eps/methods/estimate.h"

namespace eps {
namespace {

Tensor tmpd(Oracle& oracle, const Spec& options, const Tensor& noise, Rng& rng) {
  const double least = oracle.sigma_y().min().item<double>();
  check(least > 0, "tmpd: sigma_y must be greater than 0, got ", least);
  const LinearOperator& A = oracle.A();
  const Estimate estimate = [&](const Tensor& x, const Tensor& sigma) {
    const Linearisation D = oracle.linearise(x, sigma);
    const Tensor r = residual(oracle, D.mean());
    const Tensor row_sums = A.apply(D.vjp(A.adjoint(at::ones_like(r)))).abs();
    const Tensor variance =
        per_sample(oracle.sigma_y().square(), r) + per_sample(sigma.square(), r) * row_sums;
    return D.mean() + sigma.square() * D.vjp(A.adjoint(r / variance));
  };
  return sample_with(estimate, oracle, options, noise, rng);
}

EPS_METHOD({.name = "tmpd",
            .summary = "Gaussian with the row sums of the denoiser's covariance (Boys et al. 2023)",
            .fields = with_defaults(sampler_fields(100, "ddim_ancestral"), {{"eta", "1"}}),
            .sample = tmpd});

}  // namespace
}  // namespace eps
