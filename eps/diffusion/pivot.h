// The posterior pivot and its covariance: Theorem 1, Eq. (12), label eq:sigma-mu-star.
//
//   Sigma_star = (alpha^2/beta^2 I + A'A/sigma_y^2)^{-1}
//   mu_star    = Sigma_star (alpha/beta^2 x_t + A'y/sigma_y^2)
//
// With z = x_t/alpha and lambda = (alpha sigma_y/beta)^2 this is mu_star = z + ridge(y - A z,
// lambda), which divides by neither sigma_y nor lambda: sigma_y = 0 is an ordinary case.
#pragma once

#include "eps/diffusion/schedule.h"
#include "eps/operators/operator.h"

namespace eps {

// Returns x_t / alpha, the state on the data's own scale.
Tensor rescaled(const Tensor& x_t, const Coefficients& c);

// Returns mu_star(x_t, y, t).
Tensor pivot(const Problem& problem, const Tensor& x_t, const Coefficients& c);

// A `PivotPath` computes the pivots along a trajectory. Where the operator has a closed form they
// are those of pivot(). Where it has none, conjugate gradients start from the pivot before, which
// is right already where y says much, and end once the error e of every image is so small that
//
//   e' Sigma_star^{-1} e <= kError^2 n   for n pixels and channels,
//
// that is, a thousandth of the pivot's own noise, by an upper bound of the left-hand side.
class PivotPath {
 public:
  static constexpr double kError = 1e-3;

  // Returns mu_star(x_t, y, t) for the next state of the trajectory.
  Tensor next(const Problem& problem, const Tensor& x_t, const Coefficients& c);

  // These are 0 for closed forms.
  int64_t iterations() const { return iterations_; }  // of conjugate gradients so far
  double largest_error() const { return error_; }     // bound of (e' Sigma_star^{-1} e / n)^(1/2)

 private:
  Tensor last_;
  int64_t iterations_ = 0;
  double error_ = 0;
};

// Returns the eigenvalue of Sigma_star where that of A'A is e, (1/sigma^2 + e/sigma_y^2)^{-1}, from
// the squares of sigma and sigma_y. The result is right at sigma_y = 0, too.
Tensor pivot_variance(const Tensor& e, const Tensor& sigma_squared, const Tensor& sigma_y_squared);

// Returns Sigma_star v for the covariance at noise level sigma = beta/alpha.
Tensor pivot_covariance(const LinearOperator& A,
                        const Tensor& sigma_y,
                        const Tensor& sigma,
                        const Tensor& v);

// Returns lim mu_star = A^+ y + (I - A^+ A) x_t as sigma -> infinity (alpha = 1): Obs. 4, Eq. (17).
Tensor high_noise_pivot(const Problem& problem, const Tensor& x_t);

// Returns grad log p(y | x_t) = alpha/beta^2 (E[x0 | x_t, y] - E[x0 | x_t]): Eq. (14).
Tensor exact_guidance(const Tensor& posterior_mean,
                      const Tensor& prior_mean,
                      const Coefficients& c);

// Returns the sigma at which an isotropic denoiser answers the pivot exactly when A'A = gamma^2 I
// (App. A, Equivalent-Time and GLASS Limit).
Tensor equivalent_sigma(const Tensor& gamma, const Tensor& sigma_y, const Coefficients& c);

}  // namespace eps
