// The textual forms of protocols 0 and 1: decimal integers and escaped strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eps {

// Returns whether the text is an optional minus sign and at least one digit.
bool is_decimal(std::string_view text);

// Returns the two's complement, little-endian, of a text that is_decimal() accepts. The time is
// quadratic in the digits.
std::string integer_of_decimal(std::string_view decimal);

// Returns the same integer without the top bytes that only repeat its sign; empty for zero.
std::string_view shortest_integer(std::string_view little_endian);

// Decodes the inside of a Python 2 string literal; an unknown escape stands for itself, as in
// Python.
std::string unescape_repr(std::string_view text);

// Decodes Python's raw-unicode-escape to UTF-8: Latin-1 with \uXXXX and \UXXXXXXXX.
std::string unescape_unicode(std::string_view text);

// Returns the Latin-1 bytes of UTF-8 text, the form of bytes in protocols 0 to 2; nothing if a
// character is beyond U+00FF or the text is not UTF-8.
std::optional<std::string> latin1_of_utf8(std::string_view text);

}  // namespace eps
