// Resizing of 8-bit images with an antialiased Lanczos filter.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Resizes uint8 (C, H, W) to uint8 (C, height, width). The filter is a Lanczos window of 3 lobes,
// stretched to 3 output pixels where the image shrinks; first along rows, then along columns. The
// arithmetic is that of the Python Imaging Library, with which EDM's data sets were made: weights
// in fixed point, and bytes between the two passes. The results are therefore exact integers, the
// same on every machine.
Tensor resize_lanczos(const Tensor& image, int64_t height, int64_t width);

}  // namespace eps
