// Peak signal-to-noise ratio.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Of each image, in decibels: 10 log10(4 / mean squared error), both clipped to [-1, 1]. images:
// (..., C, H, W); truth: the same, or what broadcasts to it.
Tensor psnr(const Tensor& images, const Tensor& truth);

}  // namespace eps
