// Smooth random fields, from which operators draw what is missing.
#pragma once

#include "eps/base/core.h"
#include "eps/base/random.h"

namespace eps {

// Returns a field for each image of `like`, (N, 1, H, W) in float64 on the CPU: white noise under a
// Gaussian blur of standard deviation `std` pixels, (N, 1, 1, 1), that wraps around; standard
// normal in each pixel.
Tensor draw_smooth_field(const Tensor& std, const Tensor& like, Rng& rng);

}  // namespace eps
