// Text from a file in a message: 'conv.weight', with unprintable bytes escaped.
#pragma once

#include <fmt/format.h>

#include "eps/io/bytes.h"

namespace eps {

inline std::string quote(std::string_view text) { return fmt::format("'{}'", printable(text)); }

}  // namespace eps
