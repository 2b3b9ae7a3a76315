// Peak signal-to-noise ratio.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns 10 log10(4 / mean squared error) of each image, in decibels, images and truth clipped to
// [-1, 1]. images: (..., C, H, W); truth: the same, or a shape that broadcasts to it.
Tensor psnr(const Tensor& images, const Tensor& truth);

}  // namespace eps
