// Hostile PNG files, and what is written of those that are read.
#include "eps/io/images/picture.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(png) {
  Picture picture = parse_picture(bytes, "png");
  constexpr int64_t kSmall = 1 << 16;
  if (picture.pixels.numel() > kSmall) return;
  if (!picture.format.icc_profile.empty()) picture.format.colour_chunks.erase("sRGB");
  const std::string written = encode_picture(picture.values(), picture.format, "png");
  const Picture again = parse_picture(written, "png");
  if (!again.pixels.equal(picture.pixels) || again.format.exif != picture.format.exif ||
      again.format.colour_chunks != picture.format.colour_chunks)
    throw std::logic_error("a picture that is written is not the one that was read");
}
