// The two decoders behind parse_image(); each requires a file that begins with its signature.
#pragma once

#include "eps/base/core.h"

namespace eps {

constexpr std::string_view kPngSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr std::string_view kJpegSignature{"\xff\xd8\xff", 3};

Tensor decode_png(std::string_view bytes, const std::string& name);
Tensor decode_png_alpha(std::string_view bytes, const std::string& name);
Tensor decode_jpeg(std::string_view bytes, const std::string& name);

// Throws an Error unless kMaxImagePixels allows the image and `bytes` can hold it: no file of a
// format packs more than `best_packing` pixels into a byte, so a larger claim is refused before
// allocation.
void check_image_size(
    int64_t width, int64_t height, size_t bytes, int64_t best_packing, const std::string& name);

}  // namespace eps
