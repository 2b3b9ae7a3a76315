// Structural similarity (Wang et al. 2004).
#pragma once

#include "eps/base/core.h"

namespace eps {

// Windows that reach over the edge are left out (valid), or the image is mirrored (reflect).
enum class SsimBorder { valid, reflect };

// The side of a window in pixels. Smaller images are an Error.
constexpr int64_t kSsimWindow = 11;

// Returns the SSIM of each image: Gaussian 11 x 11 window of standard deviation 1.5, k1 = 0.01, k2
// = 0.03, population moments, each channel by itself, then the mean. images: (..., C, H, W),
// clipped to
// [-1, 1]; truth: the same, or a shape that broadcasts to it.
Tensor ssim(const Tensor& images, const Tensor& truth, SsimBorder border = SsimBorder::valid);

}  // namespace eps
