// The two decoders behind parse_picture(), each for a file that begins with its signature, and the
// encoder.
#pragma once

#include "eps/io/images/picture.h"

namespace eps {

constexpr std::string_view kPngSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr std::string_view kJpegSignature{"\xff\xd8\xff", 3};

// The pixels and the EXIF record are those of the file, not upright.
Picture decode_png(std::string_view bytes, const std::string& name);
Picture decode_jpeg(std::string_view bytes, const std::string& name);

// Returns a PNG of pixels (C, H, W) or (H, W): uint8, or int32 of 16 bits. quick: for pictures that
// are looked at once, a third of the time, and files larger by a tenth.
std::string encode_png_pixels(const Tensor& pixels,
                              const PictureFormat& format,
                              const std::string& name,
                              bool quick = false);

// Throws an Error unless kMaxImagePixels allows the image and `bytes` can hold it: no file of a
// format packs more than `best_packing` pixels into a byte, so a larger claim is refused before
// allocation.
void check_image_size(
    int64_t width, int64_t height, size_t bytes, int64_t best_packing, const std::string& name);

}  // namespace eps
