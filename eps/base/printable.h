// Text from outside in messages: one short line of printable ASCII.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the beginning of the text, with \x0a for a line break and for every other byte that is
// not printable ASCII.
std::string printable(std::string_view text, size_t longest = 80);

// Returns printable(text) in quotes: 'conv.weight'.
std::string quote(std::string_view text);

}  // namespace eps
