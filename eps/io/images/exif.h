// The EXIF record of a photograph: which way up its pixels are to be shown.
#pragma once

#include <optional>

#include "eps/base/core.h"

namespace eps {

// A segment of a JPEG holds no longer record; a longer one of a PNG counts as absent.
constexpr size_t kMaxExif = 65527;

// An `Exif` holds what is needed of a record (CIPA DC-008, which takes its form from TIFF 6.0).
struct Exif {
  int orientation = 1;       // 1 to 8; 1 also where the record has none or a value beyond
  std::string upright = {};  // the record of pixels that upright() turned: of orientation 1
};

// Reads a record, from the header of TIFF on. Of its directories the first is read; without a first
// one that lies within the record it counts as absent. `upright` names no second directory, that of
// the thumbnail: an old one would show other pixels. The thumbnail itself is cut off where it is
// last, as cameras write it; other entries stay as they are.
std::optional<Exif> parse_exif(std::string_view record);

// Returns pixels (..., H, W) as they are to be shown; 5 to 8 exchange height and width.
Tensor upright(const Tensor& pixels, int orientation);

}  // namespace eps
