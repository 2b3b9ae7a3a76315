// What every operator must satisfy, as numbers: run over all of ours by the tests and by `eps
// verify`, and there for yours. Each function draws what it needs and returns a relative error.
#pragma once

#include "eps/math/statistics.h"
#include "eps/operators/operator.h"
#include "eps/priors/mixture.h"

namespace eps {

// |<A x, y> - <x, A'y>| / (|A x| |y|)
double adjoint_error(const LinearOperator& A, const Shape& image, Rng& rng);

// |(A'A + lambda I) u - A'r| / |A'r| for u = ridge(r, lambda), the worst sample.
double ridge_residual(const LinearOperator& A, const Shape& image, double lambda, Rng& rng);

// |ridge(r, lambda) - u| / |u| for u by conjugate gradients.
double ridge_against_cg(const LinearOperator& A, const Shape& image, double lambda, Rng& rng);

// |f(A'A) x - A'A x| / |A'A x| for f(e) = e, and |f(A'A)(A'A + I) x - x| / |x| for f(e) = 1/(e +
// 1); and the diagonal of the latter against its columns: the largest. 0 without a filter.
double filter_error(const LinearOperator& A, const Shape& image, Rng& rng);

// mu_star of Eq. (12) as printed: |Sigma_star^{-1} mu_star - (x_t alpha/beta^2 + A'y/sigma_y^2)|
// relative.
double pivot_residual(const Operator& A, const Shape& image, double sigma, Rng& rng);

// The largest difference of the float32 pivot from the float64 one over the largest entry of
// mu_star.
double float32_pivot_error(const Operator& A, const Shape& image, double sigma, Rng& rng);

// Prop. 3: pivots simulated for one x0 have mean x0 and covariance Sigma_star. Whitened with a
// dense Sigma_star^{-1} made of A alone.
MomentTest pivot_law(
    const Operator& A, const Shape& image, double sigma, int64_t simulations, Rng& rng);

// Thm. 1: the posterior score against central differences of log p(x_t | y) of a mixture, relative.
double score_error(
    const Operator& A, const Mixture& prior, const Shape& image, const Coefficients& c, Rng& rng);

// Obs. 4: the pivot at sigma = 1e6 sigma_y, and high_noise_pivot(), against A^+ y + (I - A^+ A) x_t
// with a dense pseudo-inverse, relative.
double limit_error(const Operator& A, const Shape& image, Rng& rng);

}  // namespace eps
