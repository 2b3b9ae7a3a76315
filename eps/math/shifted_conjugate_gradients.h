// Shifted conjugate gradients (Jegerlehner 1996) solve (M + s_j) u_j = b for many shifts s_j with
// the products of one.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct ResolventOptions {
  double tolerance = 1e-3;  // of the sum's error, over the norm of the sum
  int64_t max_iterations = 30000;
};

// Returns w_0 b + sum_j w_j s_j (M + s_j)^{-1} b for each sample (row) of b, where `product` maps a
// batch u to the batch M u, M symmetric and positive semidefinite: as many sums, in a new first
// dimension, as there are weights. The residuals of all shifts are multiples of one another, so
// that one space serves them all, and a larger shift is done earlier.
//
// shifts: ascending and > 0. weights: (sums, N or 1, 1 + shifts), w_0 first. Samples end one by
// one, each once an upper bound of its errors is below the tolerance: for each shift the error is
// at most (g_j |r_j|^2 / s_j)^(1/2), g_j |r_j|^2 the bound of solve_conjugate_gradients(). Works in
// float64 whatever the dtype of b. Throws with the worst bound if any sample is left.
Tensor sums_of_resolvents(const std::function<Tensor(const Tensor&)>& product,
                          const Tensor& b,
                          const std::vector<double>& shifts,
                          const Tensor& weights,
                          const ResolventOptions& options = {});

}  // namespace eps
