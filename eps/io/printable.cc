// Text from a file, made safe to show in a one-line message.
#include "eps/io/printable.h"

#include <fmt/format.h>

namespace eps {

std::string printable(std::string_view text, size_t limit) {
  std::string safe = "'";
  for (const char character : text.substr(0, limit)) {
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 && code < 0x7f) {
      safe += character;
    } else {
      safe += fmt::format("\\x{:02x}", code);
    }
  }
  return safe + (text.size() > limit ? "...'" : "'");
}

}  // namespace eps
