// Text from a file inside a message: 'conv.weight', without what would break the line.
#pragma once

#include <fmt/format.h>

#include "eps/io/bytes.h"

namespace eps {

inline std::string quote(std::string_view text) { return fmt::format("'{}'", printable(text)); }

}  // namespace eps
