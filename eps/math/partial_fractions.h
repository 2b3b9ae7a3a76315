// Functions of a symmetric matrix as sums of its resolvents.
#pragma once

#include "eps/base/core.h"

namespace eps {

// `PartialFractions` approximate functions f of eigenvalues, all with the same shifts:
//
//   f(e) = w_0 + sum_{j >= first} w_j s_j / (e + s_j)   for e = 0 and up to the largest.
struct PartialFractions {
  int64_t first = 0;  // of the shifts that take part
  Tensor weights;     // (functions, N or 1, 1 + shifts that take part), float64 on the CPU
  double error = 0;   // the largest on the points of the fit, relative to the bound of the fit
};

// A `ResolventBasis` holds shifts s_j, and fits partial fractions with these. The functions of
// noise and prior variances have their singularities on the negative axis (Stieltjes functions),
// and the error falls exponentially with the number of shifts per decade: to 1e-3 for a ratio of 2.
class ResolventBasis {
 public:
  // The shifts are `count`, a fixed ratio apart, up to that ratio times the largest eigenvalue:
  // functions that grow with the root of an eigenvalue need one beyond.
  ResolventBasis(double largest, int64_t count, double ratio);

  const std::vector<double>& shifts() const { return shifts_; }  // ascending

  using Function = std::function<Tensor(const Tensor& eigenvalue)>;
  // Returns the least squares of the error over max(f(e), floor max f), with the fewest of the
  // largest shifts whose errors are below the tolerance, or, where none are, near the least: small
  // shifts are what costs. A function maps eigenvalues (1, 1, 1, m) to (N or 1, 1, 1, m) positive
  // values, in float64 on the CPU: with numbers that are there already no GPU has to wait.
  PartialFractions fit(const std::vector<Function>& functions,
                       double tolerance = 1e-3,
                       double floor = 1e-3) const;

 private:
  std::vector<double> shifts_;
  Tensor points_;  // (1, 1, 1, m): 0, and up to the largest eigenvalue
  Tensor basis_;   // (m, 1 + shifts): 1, and s/(e + s) of the largest shift first
};

}  // namespace eps
