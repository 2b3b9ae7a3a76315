// The estimate of an image from noisy pixels that knows that neighbours are alike.
//
// The prior is a tree: a pixel is the mean of its block of 2 x 2 plus detail, that mean is the mean
// of its own block plus detail, and so on, with the variances that photographs have. Information
// about a mean rises from the pixels below it: a pixel of precision b has precision b / (1 + d b)
// for its mean, d the variance of the detail. Estimates descend from the top, where a mean is
// weighed against its parent. The parent is interpolated between the blocks, so that the estimate
// has no edges between them, and its part of the information that rose from the pixel itself is
// counted twice: the estimate is no posterior mean, but close to one, for a few passes over memory.
#pragma once

#include "eps/base/core.h"

namespace eps {

// The side of the largest block, in pixels, and the distance beyond which a pixel has no effect.
// The estimate of a part of an image that begins at a multiple of kPyramidBlock is that of the
// image, away from its borders.
inline constexpr int64_t kPyramidBlock = 32, kPyramidRadius = 96;
// The variance of a pixel about its surroundings, in photographs in [-1, 1].
inline constexpr double kPixelDetail = 0.009;

// Returns the estimate of images (N, C, H, W) from x = x0 + noise of the variance of each pixel,
// > 0, which broadcasts to x; of x's type.
Tensor pyramid_estimate(const Tensor& x, const Tensor& variance);

}  // namespace eps
