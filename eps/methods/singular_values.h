// A step of DDRM (Kawar et al. 2022) treats each singular value by itself. With eta_b = 1 the step
// is that of DDNM+ (Wang et al. 2023), whose two noise coefficients and lambda are the same
// numbers.
//
// Component i, in the right singular basis of A, has the singular value v = sqrt(e), e the
// eigenvalue of A'A, and the measurement y~ = u'y/v of noise sigma_y/v. With n = (x - D)/s and z
// fresh:
//
//   v = 0            D + s' (sqrt(1 - eta^2) n + eta z)
//   s' <  sigma_y/v  D + s' (sqrt(1 - eta^2) (y~ - D) v/sigma_y + eta z)
//   s' >= sigma_y/v  (1 - eta_b) D + eta_b y~ + sqrt(s'^2 - eta_b^2 sigma_y^2/v^2) z
//
// The coefficients are functions of A'A, so a fast basis is enough and no decomposition is stored.
// The second case is D + lambda (y~ - D) with lambda = s' sqrt(1 - eta^2) v/sigma_y < 1: A^+ (y - A
// D) is taken once, and no weight on it can be large, however small v is.
#pragma once

#include "eps/methods/descent.h"

namespace eps {

// Takes the step above from s = sigma to s' = next, for the D = D(x, sigma) of the prior and fresh
// noise z, both of the shape of x. v = 0 where the eigenvalue is 0 exactly: operators round
// vanishing eigenvalues to 0.
Tensor singular_value_step(const Oracle& oracle,
                           const Tensor& x,
                           const Tensor& D,
                           const Tensor& sigma,
                           const Tensor& next,
                           double eta,
                           double eta_b,
                           const Tensor& z);

}  // namespace eps
