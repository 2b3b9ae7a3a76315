// The size of a picture, as the head of its file says, before any of it is decoded.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "eps/base/core.h"

namespace eps {

// Returns width and height of the bytes of a PNG or JPEG as they are stored, not turned upright;
// none where the head does not have them.
std::optional<std::pair<int64_t, int64_t>> stored_picture_size(std::string_view bytes);

}  // namespace eps
