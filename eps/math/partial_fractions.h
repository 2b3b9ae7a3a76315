// Functions of a symmetric matrix as sums of its resolvents.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the shifts s_j of partial_fractions(): `count` of them, a fixed ratio apart, up to the
// largest eigenvalue.
std::vector<double> resolvent_shifts(double largest, int64_t count, double ratio);

// Returns the weights w, (N or 1, 1 + shifts), float64 on the CPU, of the approximation
//
//   f(e) = w_0 + sum_j w_j s_j / (e + s_j)   for e = 0 and in [smallest shift / 10, largest],
//
// the least squares of its relative error. The functions of noise and prior variances, whose
// singularities lie on the negative axis, come out with relative errors of 1e-3 for a ratio of
// about 3 (Stieltjes functions; the error falls exponentially with the number of shifts per
// decade). f maps eigenvalues (1, 1, 1, m) to (N or 1, 1, 1, m) positive values.
Tensor partial_fractions(const std::function<Tensor(const Tensor& eigenvalue)>& f,
                         const std::vector<double>& shifts,
                         double largest,
                         const at::TensorOptions& options);

}  // namespace eps
