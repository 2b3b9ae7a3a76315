// The norm of an operator.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// Returns |A|^2, the largest eigenvalue of A'A, of each image's map, (N, 1, 1, 1), for images like
// `like`: from below, by power iteration.
Tensor squared_norm(const LinearOperator& A, const Tensor& like);

}  // namespace eps
