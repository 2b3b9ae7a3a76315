// Images of 8 bits in files: PNG and JPEG read, PNG written, and conversion between bytes and
// [-1, 1].
#pragma once

#include "eps/base/core.h"

namespace eps {

// Larger images are refused before any memory is allocated: 64 Mpixel is 8192 x 8192.
constexpr int64_t kMaxImagePixels = int64_t{1} << 26;

// Reads an image as uint8 (C, H, W) with C = 1 (grey) or 3 (RGB), upright, as read_picture() does
// (eps/io/images/picture.h); 16 bits are rounded to 8, alpha is dropped, and the colour stored
// under it is kept.
Tensor read_image(const std::string& path);

// Decodes the bytes of an image file; `name` is for messages.
Tensor parse_image(std::string_view bytes, const std::string& name);

// Returns the bytes of a PNG file of uint8 (C, H, W) with C = 1 or 3, or (H, W); `name` is for
// messages.
std::string encode_png(const Tensor& image, const std::string& name);
void write_png(const std::string& path, const Tensor& image);

// Returns "640 x 480 pixels (width x height)": messages to people who have pictures have sizes in
// this order, and shapes of arrays in that of their dimensions.
std::string size_words(int64_t width, int64_t height);

// Converts [-1, 1] to uint8: truncate(clip(128 + 127.5 x, 0, 255)).
Tensor to_uint8(const Tensor& image);

// Converts uint8 to float32 in [-1, 1]: u / 127.5 - 1. to_uint8() is the exact inverse.
Tensor from_uint8(const Tensor& image);

// Does the same with the 65536 levels of 16 bits, int32 from 0 to 65535; libtorch 1.13 has no
// uint16. 257 u has the value of u of 8 bits.
Tensor to_uint16(const Tensor& image);
Tensor from_uint16(const Tensor& image);

// Arranges uint8 (N, C, H, W) as one image (C, H', W'), row by row, with white between and around.
Tensor image_grid(const Tensor& images, int64_t columns, int64_t padding = 2);

}  // namespace eps
