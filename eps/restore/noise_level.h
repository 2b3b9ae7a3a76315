// The measurement noise sigma_y, estimated from the measurement itself.
#pragma once

#include "eps/base/core.h"

namespace eps {

// From an image-like measurement y (N, C, H, W): the median absolute deviation of its finest
// diagonal detail (a - b - c + d)/2 over 2 x 2 neighbours, divided by 0.6745 (Donoho and Johnstone
// 1994). White noise keeps its standard deviation in the detail, and a linear ramp leaves none;
// what fine texture y has of its own is taken for noise. measured: 0 where y is no measurement, of
// a shape that broadcasts to y; undefined: all of it is. Too few neighbours are an Error.
double robust_noise_level(const Tensor& y, const Tensor& measured = {});

}  // namespace eps
