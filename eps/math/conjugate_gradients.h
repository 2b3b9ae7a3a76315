// Conjugate gradients (Hestenes & Stiefel 1952) solve a batch of symmetric positive semidefinite
// systems.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct ConjugateGradientsOptions {
  double tolerance = 1e-10;  // stop a system when |b - M u| <= tolerance |b|
  int64_t max_iterations = 5000;
  Tensor start = {};  // of u, 0 without one

  // Stop a system also when its error e has e'M e <= energy, by an upper bound of that. The bound
  // needs another, 0 < smallest <= every eigenvalue of M. Both have one value for each sample, (N,
  // 1, ..., 1), or one for all.
  Tensor energy = {};
  Tensor smallest = {};

  // Maps a residual to what is near M^{-1} r, by a symmetric positive definite map P. The energy is
  // then estimated as r'P r, without `smallest`, and the tolerance holds in the norm of P.
  std::function<Tensor(const Tensor& r)> precondition = {};
};

// A `Solution` of a batch of systems says how far it may be from the exact one.
struct Solution {
  Tensor u;
  int64_t iterations = 0;
  Tensor energy;  // (N, 1, ..., 1): the bound or estimate of e'M e, where there is one
};

// Solves M u = b for each sample (row) of b, where `apply` maps a batch u to the batch M u. Systems
// stop one by one: a converged one no longer changes, whatever its neighbours do. Works in float64
// whatever the dtype of b. Throws with the worst residual if any system is left.
//
// The bound of the energy is that of Gauss-Radau quadrature, e'M e <= g |r|^2, whose factor g has a
// recurrence in the coefficients of the iteration (Meurant & Tichy 2013).
Solution solve_conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                                   const Tensor& b,
                                   const ConjugateGradientsOptions& options = {});
// Returns the u of the solution, in the dtype of b.
Tensor conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                           const Tensor& b,
                           const ConjugateGradientsOptions& options = {});

// Returns a / b, and 0 where b is 0.
Tensor quotient_or_zero(const Tensor& a, const Tensor& b);
// Returns the inner product of each sample, as (N, 1, ..., 1).
Tensor batch_dot(const Tensor& a, const Tensor& b);

}  // namespace eps
