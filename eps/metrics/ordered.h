// Samples in the order of their values, pixel by pixel.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the samples (S, ...) sorted along the first dimension. Batcher's odd-even merge sort
// compares whole rows, several times as fast as a sort of each pixel's numbers, which are few.
Tensor in_order(const Tensor& samples);

}  // namespace eps
