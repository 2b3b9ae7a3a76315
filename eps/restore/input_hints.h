// Signs that a measurement or its mask is not what it is taken for, in words.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns a warning about an array, (1, C, H, W), whose values seem to lie in [0, 1]: at most 1 in
// 100 is below 0 or above 1.
std::vector<std::string> range_hints(const std::string& path, const Tensor& y);

// Returns warnings about a mask, of the shape of y (1, C, H, W) and 1 where y is measured:
//   inverted    the measured pixels are almost of one colour, and those in the holes are not;
//   too small   the holes of y are of one colour, and so are most of the measured pixels beside
//               them, but few others.
// y holds what the file has in its holes.
std::vector<std::string> mask_hints(const std::string& path,
                                    const Tensor& y,
                                    const Tensor& measured);

// Returns a warning about k-space, (1, C, H, W, 2), whose middle, a quarter of each side, has four
// times the power of its corners, where the low frequencies are wanted.
std::vector<std::string> kspace_hints(const std::string& path, const Tensor& y);

// Returns a warning about a picture with transparent pixels: what is under them is taken as
// measured.
std::vector<std::string> alpha_hints(const std::string& path);

}  // namespace eps
