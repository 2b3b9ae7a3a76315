// Tests of moments compare the mean and covariance of samples with exact ones, in standard errors.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Both numbers of a `MomentTest` are about N(0, 1) for samples of the right law, whatever its
// shape: |z| < 5 is a pass (a false alarm of about 6e-7 for a fresh seed; our seeds are fixed).
struct MomentTest {
  double mean_z;        // chi-square of the whitened sample mean, standardised
  double covariance_z;  // the worst of: total variance, and variance along 32 random directions
};

// Tests whitened samples: (n, d), samples minus the exact mean, times a square root of the exact
// precision.
MomentTest test_whitened(const Tensor& whitened);

// Tests samples (n, ...) against the mean (...) and covariance (d, d).
MomentTest test_moments(const Tensor& samples, const Tensor& mean, const Tensor& covariance);

}  // namespace eps
