// Text from outside in messages.
#include "eps/base/printable.h"

#include <fmt/format.h>

namespace eps {

std::string printable(std::string_view text, size_t longest) {
  std::string line;
  for (const char c : text.substr(0, longest)) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\';
    line += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text.size() > longest ? line + "..." : line;
}

std::string quote(std::string_view text) { return fmt::format("'{}'", printable(text)); }

}  // namespace eps
