// Do restorations explain the measurement?
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// |y - A x|^2 / (sigma_y^2 M) for each of N images, M its number of measurements: (N), float64. The
// truth has 1 on average, and so have samples of the posterior; a posterior mean has less.
Tensor chi_square(const Problem& problem, const Tensor& images);

}  // namespace eps
