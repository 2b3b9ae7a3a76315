// Proper scores of an ensemble: CRPS and the energy score (Gneiting and Raftery 2007).
//
//   CRPS = mean_i |X_i - z| - spread / 2, for each coordinate; the energy score: the same with the
//   Euclidean norm of the whole vector. The spread is the mean of |X_i - X_j| over all pairs (i, j)
//   (standard: 1/M^2) or over pairs of different members (fair: 1/(M (M - 1)), unbiased).
#pragma once

#include "eps/base/core.h"

namespace eps {

enum class Estimator { standard, fair };

// Returns the CRPS of each image, the mean over its coordinates: (N), float64. samples: (S, N,
// ...); truth: (N, ...). The fair estimator needs two samples or more.
Tensor crps(const Tensor& samples, const Tensor& truth, Estimator estimator);
// Returns the same of samples that are in order already.
Tensor crps_in_order(const Tensor& ordered, const Tensor& truth, Estimator estimator);

// Returns the energy score of each image: (N), float64.
Tensor energy_score(const Tensor& samples, const Tensor& truth, Estimator estimator);

}  // namespace eps
