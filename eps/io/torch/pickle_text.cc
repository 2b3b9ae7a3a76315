// The textual forms of protocols 0 and 1: decimal integers and escaped strings.
#include "eps/io/torch/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace eps {
namespace {

bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Returns the number in the first `digits` hexadecimal characters, or nothing if any is missing.
std::optional<uint32_t> hexadecimal(std::string_view text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  return value;
}

void append_utf8(std::string& text, uint32_t code) {
  auto continuation = [&](int shift) {
    text += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    continuation(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    continuation(6);
    continuation(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18 & 7));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace

bool is_decimal(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string integer_of_decimal(std::string_view decimal) {
  const bool negative = decimal.front() == '-';
  std::string bytes(1, '\0');
  for (const char digit : decimal.substr(negative ? 1 : 0)) {
    unsigned carry = static_cast<unsigned>(digit - '0');
    for (char& byte : bytes) {
      carry += 10 * static_cast<unsigned char>(byte);
      byte = static_cast<char>(carry & 0xff);
      carry >>= 8;
    }
    if (carry != 0) bytes += static_cast<char>(carry);
  }
  bytes += '\0';  // room for the sign
  if (!negative) return bytes;
  unsigned carry = 1;
  for (char& byte : bytes) {
    carry += static_cast<unsigned char>(~byte);
    byte = static_cast<char>(carry & 0xff);
    carry >>= 8;
  }
  return bytes;
}

std::string_view shortest_integer(std::string_view bytes) {
  auto is_negative = [](char byte) { return static_cast<signed char>(byte) < 0; };
  auto top_repeats_sign = [&] {
    const char top = bytes.back();
    if (bytes.size() == 1) return top == 0;
    return (top == 0 && !is_negative(bytes[bytes.size() - 2])) ||
           (top == '\xff' && is_negative(bytes[bytes.size() - 2]));
  };
  while (!bytes.empty() && top_repeats_sign()) bytes.remove_suffix(1);
  return bytes;
}

std::string unescape_repr(std::string_view text) {
  constexpr std::string_view kLetters = "\\'\"ntrabfv";
  constexpr std::string_view kMeanings = "\\'\"\n\t\r\a\b\f\v";
  std::string plain;
  while (!text.empty()) {
    const size_t letter =
        text[0] == '\\' && text.size() > 1 ? kLetters.find(text[1]) : std::string_view::npos;
    if (letter != std::string_view::npos) {
      plain += kMeanings[letter];
      text.remove_prefix(2);
      continue;
    }
    const auto code = text.substr(0, 2) == "\\x" ? hexadecimal(text.substr(2), 2) : std::nullopt;
    plain += code ? static_cast<char>(*code) : text[0];
    text.remove_prefix(code ? 4 : 1);
  }
  return plain;
}

std::string unescape_unicode(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const bool is_short = text.substr(0, 2) == "\\u";
    const size_t digits = is_short ? 4 : 8;
    const auto code =
        is_short || text.substr(0, 2) == "\\U" ? hexadecimal(text.substr(2), digits) : std::nullopt;
    append_utf8(plain, code.value_or(static_cast<unsigned char>(text[0])));
    text.remove_prefix(code ? 2 + digits : 1);
  }
  return plain;
}

std::optional<std::string> latin1_of_utf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes += text[i];
      continue;
    }
    // U+0080 to U+00FF take two bytes: 110000xx 10xxxxxx.
    if ((lead != 0xc2 && lead != 0xc3) || i + 1 == text.size()) return std::nullopt;
    const auto next = static_cast<unsigned char>(text[++i]);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    bytes += static_cast<char>((lead & 0x03) << 6 | (next & 0x3f));
  }
  return bytes;
}

}  // namespace eps
