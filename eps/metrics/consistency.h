// Consistency of restorations with the measurement.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// Returns |y - A x|^2 / (sigma_y^2 M) for each of N images, M its number of measurements: (N),
// float64. The truth and samples of the posterior have 1 on average; a posterior mean has less.
Tensor chi_square(const Problem& problem, const Tensor& images);

}  // namespace eps
