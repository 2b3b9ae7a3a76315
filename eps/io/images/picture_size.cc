// The size of a picture, as the head of its file says.
#include "eps/io/images/picture_size.h"

#include "eps/io/images/image_codecs.h"

namespace eps {
namespace {

using Size = std::pair<int64_t, int64_t>;

int64_t big_endian(std::string_view bytes, size_t at, size_t count) {
  int64_t value = 0;
  for (size_t k = at; k < at + count; ++k)
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  return value;
}

// A PNG begins with its signature and the chunk IHDR: length, name, width, height.
std::optional<Size> png_size(std::string_view bytes) {
  if (bytes.size() < 24 || bytes.substr(12, 4) != "IHDR") return {};
  return Size{big_endian(bytes, 16, 4), big_endian(bytes, 20, 4)};
}

// A JPEG is a list of segments: FF, a marker, and the length of what follows. The start of a frame,
// FFC0 to FFCF without C4, C8 and CC, has the bits, the height and the width.
std::optional<Size> jpeg_size(std::string_view bytes) {
  size_t at = 2;
  while (at + 9 < bytes.size()) {
    const auto marker = static_cast<unsigned char>(bytes[at + 1]);
    if (bytes[at] != '\xff') return {};
    if (marker == 0xff) {  // filling
      ++at;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      return Size{big_endian(bytes, at + 7, 2), big_endian(bytes, at + 5, 2)};
    if (marker == 0xda || marker == 0xd9) return {};  // pixels, or the end
    at += 2 + static_cast<size_t>(big_endian(bytes, at + 2, 2));
  }
  return {};
}

}  // namespace

std::optional<Size> stored_picture_size(std::string_view bytes) {
  if (bytes.starts_with(kPngSignature)) return png_size(bytes);
  if (bytes.starts_with(kJpegSignature)) return jpeg_size(bytes);
  return {};
}

}  // namespace eps
