// Images in files: PNG and JPEG in, PNG out, and the way between bytes and [-1, 1].
#pragma once

#include "eps/base/core.h"

namespace eps {

// More is refused before any memory is taken: 64 Mpixel, as 8192 x 8192.
constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// uint8 (C, H, W) with C = 1 (grey) or 3 (RGB). The content says whether it is PNG or JPEG, the
// name does not matter. Palettes become RGB, 1, 2 and 4 bits are stretched to 8, 16 bits are
// rounded to 8; alpha is dropped: the colour stored under it is what is read. Colour profiles and
// the rotation in a camera's EXIF record are not applied. CMYK is refused, and so is a truncated or
// corrupt file.
Tensor read_image(const std::string& path);

// The image in the bytes of a file; `name` is for messages.
Tensor parse_image(std::string_view bytes, const std::string& name);

// The bytes of a PNG file of uint8 (C, H, W) with C = 1 or 3, or (H, W); `name` is for messages.
std::string encode_png(const Tensor& image, const std::string& name);
void write_png(const std::string& path, const Tensor& image);

// [-1, 1] to uint8: truncate(clip(128 + 127.5 x, 0, 255)).
Tensor to_uint8(const Tensor& image);

// uint8 to float32 in [-1, 1]: u / 127.5 - 1. to_uint8() takes it back exactly.
Tensor from_uint8(const Tensor& image);

// uint8 (N, C, H, W) as one (C, H', W'), row by row, with white between and around.
Tensor image_grid(const Tensor& images, int64_t columns, int64_t padding = 2);

}  // namespace eps
