// The Frechet distance between Gaussians fitted to two sets of features (FID; Heusel et al. 2017).
//
//   |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), covariances with n - 1
//
// With fewer images than features the covariances are singular and a matrix square root is not
// stable; but tr (C1 C2)^(1/2) is the nuclear norm of X1 X2' / sqrt((n1 - 1)(n2 - 1)) with X the
// centred features, exactly.
#pragma once

#include "eps/metrics/bootstrap.h"

namespace eps {

// Returns the distance of samples (S, N, D), all S N of them one set, from the truth (N, D).
Statistic frechet_distance(const Tensor& samples, const Tensor& truth);

}  // namespace eps
