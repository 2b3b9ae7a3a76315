// Structural similarity (Wang et al. 2004).
#pragma once

#include "eps/base/core.h"

namespace eps {

// How windows that reach over the edge are treated: left out, or the image mirrored.
enum class SsimBorder { valid, reflect };

// Pixels of a window's side: smaller images are an Error.
constexpr int64_t kSsimWindow = 11;

// Of each image: Gaussian 11 x 11 window of standard deviation 1.5, k1 = 0.01, k2 = 0.03,
// population moments, each channel by itself, then the mean. images: (..., C, H, W), clipped to
// [-1, 1]; truth: the same, or what broadcasts to it.
Tensor ssim(const Tensor& images, const Tensor& truth, SsimBorder border = SsimBorder::valid);

}  // namespace eps
