// The quality of a JPEG, as coarsely as its file was quantised.
#pragma once

#include <array>

#include "eps/base/core.h"

namespace eps {

// The divisors of the 64 frequencies of a block, row by row.
using JpegTable = std::array<uint16_t, 64>;

// Returns the quality, 1 to 100, whose table for luminance is nearest to this one in the sum of
// absolute differences: the very quality of a file of libjpeg's, and an equivalent of one whose
// camera or editor has tables of its own.
int estimate_jpeg_quality(const JpegTable& table);

}  // namespace eps
