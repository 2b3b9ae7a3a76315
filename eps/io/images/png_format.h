// What a PNG says of its pixels, in chunks beside them.
#pragma once

#include "eps/io/images/picture.h"

namespace eps {

// Reads the format, but for the bits, and the number of frames from the bytes of a PNG. The first
// chunk of a kind counts, and none whose checksum or size is wrong. The EXIF record is the file's
// own.
PictureFormat png_format(std::string_view png);
int64_t png_frames(std::string_view png);

// Returns the chunks of a format, type and content, for pixels of so many channels. A profile
// stands in place of sRGB: a PNG may say one of them only.
std::vector<std::pair<std::string, std::string>> png_chunks_of(const PictureFormat& format,
                                                               int64_t channels);

}  // namespace eps
