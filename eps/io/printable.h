// Text from a file, made safe to show in a one-line message: quoted, escaped and cut.
#pragma once

#include <string>
#include <string_view>

namespace eps {

// Control characters and bytes outside ASCII become \xNN, so that a hostile name can neither break
// the line nor drive the terminal; what is longer than `limit` characters ends in "...".
std::string printable(std::string_view text, size_t limit = 120);

}  // namespace eps
