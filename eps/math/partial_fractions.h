// Functions of a symmetric matrix as sums of its resolvents.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the shifts s_j of partial_fractions(), ascending: `count` of them, a fixed ratio apart,
// up to the largest eigenvalue.
std::vector<double> resolvent_shifts(double largest, int64_t count, double ratio);

// `PartialFractions` approximate a function f of eigenvalues:
//
//   f(e) = w_0 + sum_{j >= first} w_j s_j / (e + s_j)   for e = 0 and up to the largest.
struct PartialFractions {
  size_t first = 0;  // of the shifts that take part
  Tensor weights;    // (N or 1, 1 + shifts that take part), float64 on the CPU
  double error = 0;  // the largest on the points of the fit
};

// Returns the least squares of the error over max(f(e), max f / 1000), with the fewest of the
// largest shifts whose error is below the tolerance, or, where none is, near the least: small
// shifts are what costs. The functions of noise and prior variances have their singularities on the
// negative axis (Stieltjes functions), and the error falls exponentially with the number of shifts
// per decade: to 1e-3 for a ratio of 2. f maps eigenvalues (1, 1, 1, m) to (N or 1, 1, 1, m)
// positive values, in float64 on the CPU: with numbers that are there already no GPU has to wait.
PartialFractions partial_fractions(const std::function<Tensor(const Tensor& eigenvalue)>& f,
                                   const std::vector<double>& shifts,
                                   double largest,
                                   double tolerance = 1e-3);

}  // namespace eps
