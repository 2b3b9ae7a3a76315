// The contract of operators, as numbers. The tests and `eps verify` run it over all registered
// operators; authors of operators can run it over their own. Each function draws its inputs and
// returns a relative error.
#pragma once

#include "eps/math/statistics.h"
#include "eps/operators/operator.h"
#include "eps/priors/mixture.h"

namespace eps {

// Returns |<A x, y> - <x, A'y>| / (|A x| |y|).
double adjoint_error(const LinearOperator& A, const Shape& image, Rng& rng);

// Returns |(A'A + lambda I) u - A'r| / |A'r| for u = ridge(r, lambda), the worst sample.
double ridge_residual(const LinearOperator& A, const Shape& image, double lambda, Rng& rng);

// Returns |ridge(r, lambda) - u| / |u| for u by conjugate gradients, or by a dense matrix where
// ridge itself runs conjugate gradients and the image is small.
double ridge_against_cg(const LinearOperator& A, const Shape& image, double lambda, Rng& rng);

// Returns the largest of |f(A'A) x - A'A x| / |A'A x| for f(e) = e, |f(A'A)(A'A + I) x - x| / |x|
// for f(e) = 1/(e + 1), and the error of the latter's diagonal() against a few columns. Without a
// spectrum the first is left out, and the others have the tolerance of functions().
double filter_error(const LinearOperator& A, const Shape& image, Rng& rng);

// Returns the relative error of mu_star in Eq. (12) as printed: |Sigma_star^{-1} mu_star - (x_t
// alpha/beta^2 + A'y/sigma_y^2)|.
double pivot_residual(const Operator& A, const Shape& image, double sigma, Rng& rng);

// Returns the largest difference of the float32 pivot from the float64 one over the largest entry
// of mu_star.
double float32_pivot_error(const Operator& A, const Shape& image, double sigma, Rng& rng);

// Tests Prop. 3: pivots simulated for one x0 have mean x0 and covariance Sigma_star. A dense
// Sigma_star^{-1} made of A alone whitens them.
MomentTest pivot_law(
    const Operator& A, const Shape& image, double sigma, int64_t simulations, Rng& rng);

// Returns the relative error of the posterior score, Thm. 1, against central differences of log
// p(x_t | y) of a mixture.
double score_error(
    const Operator& A, const Mixture& prior, const Shape& image, const Coefficients& c, Rng& rng);

// Returns the larger relative error of Obs. 4: of the pivot at sigma = 1e6 sigma_y, and of
// high_noise_pivot(), from A^+ y + (I - A^+ A) x_t with a dense pseudo-inverse.
double limit_error(const Operator& A, const Shape& image, Rng& rng);

}  // namespace eps
