// Pictures in files as cameras and editors write them: 8 or 16 bits, upright, with their colour
// space and the camera's record.
#pragma once

#include <optional>

#include "eps/base/core.h"

namespace eps {

// A `PictureFormat` holds what a file says of its pixels. The default is that of pixels that come
// from no file: sRGB.
struct PictureFormat {
  int64_t bits = 8;              // of a value: 8 or 16
  std::string icc_profile = {};  // empty: none
  std::string icc_name = {};     // of the profile
  std::string exif = {};         // the record of upright pixels (eps/io/images/exif.h); empty: none
  // The content of these chunks of a PNG: cHRM, cICP, gAMA, sRGB.
  std::map<std::string, std::string> colour_chunks = {{"sRGB", std::string(1, '\0')}};

  bool operator==(const PictureFormat&) const = default;
};

// A `Picture` holds the pixels of a file, turned upright as its EXIF record wants them shown.
struct Picture {
  Tensor pixels = {};  // (C, H, W) with C = 1 (grey) or 3 (RGB): uint8, or int32 of 16 bits
  Tensor alpha = {};   // (H, W) of that type; undefined: the file has none
  PictureFormat format = {};
  int64_t frames = 1;  // of an animated PNG: the first is read, as by programs that know no others
  std::optional<int> jpeg_quality = {};  // 1 to 100, eps/io/images/jpeg_quality.h; none of a PNG

  Tensor values() const;  // the pixels as float32 in [-1, 1]
};

// Reads a PNG or JPEG; the content decides between them, not the name. Palettes become RGB, and 1,
// 2 and 4 bits are stretched to 8. Colour profiles are not applied. CMYK is refused, and so is a
// truncated or corrupt file; a broken profile or record counts as absent.
Picture read_picture(const std::string& path);
Picture parse_picture(std::string_view bytes, const std::string& name);

// Returns pixels in grey levels of 8 bits, float64; those of 16 bits lie between them, too.
Tensor grey_levels(const Tensor& pixels);
Tensor read_grey_levels(const std::string& path);

// Returns the bytes of a PNG file of (C, H, W) or (H, W) in [-1, 1]; `name` is for messages. A
// profile of grey is not written with colours, and one of colours not with grey.
std::string encode_picture(const Tensor& image,
                           const PictureFormat& format,
                           const std::string& name);
void write_picture(const std::string& path, const Tensor& image, const PictureFormat& format);

}  // namespace eps
