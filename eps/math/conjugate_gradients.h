// Conjugate gradients (Hestenes & Stiefel 1952) solve a batch of symmetric positive semidefinite
// systems.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct ConjugateGradientsOptions {
  double tolerance = 1e-10;  // stop a system when |b - M u| <= tolerance |b|
  int64_t max_iterations = 5000;
};

// Solves M u = b for each sample (row) of b, starting from 0, where `apply` maps a batch u to the
// batch M u. Systems stop one by one: a converged one no longer changes, whatever its neighbours
// do. Works in float64 whatever the dtype of b. Throws with the worst residual if any system is
// left.
Tensor conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                           const Tensor& b,
                           const ConjugateGradientsOptions& options = {});

// Returns the inner product of each sample, as (N, 1, ..., 1).
Tensor batch_dot(const Tensor& a, const Tensor& b);

}  // namespace eps
