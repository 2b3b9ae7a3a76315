// Exact priors and tests compute with linear maps as matrices, for small images.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the matrix of a linear map on images of the shape (1, C, H, W): (B, M, d) with d = C H W,
// where the map holds B different maps (1 if shared by the batch).
Tensor matrix_of(const std::function<Tensor(const Tensor&)>& map,
                 const Shape& image,
                 int64_t batch,
                 const at::TensorOptions& options);

}  // namespace eps
