// Signs that a measurement or its mask is not what it is taken for, in words.
#pragma once

#include "eps/io/images/picture.h"
#include "eps/restore/operator_choice.h"

namespace eps {

// At this quality the artefacts of a photograph have 2 to 3 grey levels, root mean square; at
// 75, 4.
inline constexpr int kFineJpeg = 92;

// Returns a warning about an array, (1, C, H, W), whose values seem to lie in [0, 1]: but for
// noise, of the level that its finest detail has, its darkest 2 in 100 lie at 0 or above, and below
// 0.3, its brightest 2 in 100 at 1 or below, and its mean is above 0.15.
std::vector<std::string> range_hints(const std::string& path, const Tensor& y);

// Returns warnings about a mask, of the shape of y (1, C, H, W) and 1 where y is measured:
//   inverted    the measured pixels are almost of one colour, and those in the holes are not;
//   too small   the holes of y are of one colour, and so are most of the measured pixels beside
//               them, but few others.
// y holds what the file has in its holes.
std::vector<std::string> mask_hints(const std::string& path,
                                    const Tensor& y,
                                    const Tensor& measured);

// Returns a warning about k-space as it was read, (1, C, H, W, 2), whose middle, a quarter of each
// side, has four times the power of its corners, where the low frequencies are wanted; or, if it is
// declared as centred, the other way round.
std::vector<std::string> kspace_hints(const std::string& path, const Tensor& y, bool centred);

// Returns warnings about a picture as it was read:
//   transparent pixels, unless they are the mask, as what is under them is taken as measured;
//   frames of an animation, of which one is read;
//   a JPEG of a quality below kFineJpeg, whose artefacts are no white noise.
std::vector<std::string> picture_hints(const std::string& path,
                                       const Picture& picture,
                                       bool is_mask);

// Returns the warnings above about a measurement y with what its file has in the holes of a mask;
// `picture` is the one that was read, if the file is no array. Bytes have no other range than
// theirs.
std::vector<std::string> measurement_hints(const std::string& path,
                                           const std::optional<Picture>& picture,
                                           bool are_bytes,
                                           const Tensor& y,
                                           const Tensor& measured,
                                           const OperatorChoice& chosen);

}  // namespace eps
