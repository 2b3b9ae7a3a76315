// The pickle machine's instructions that carry constants, numbers, text and bytes.
#include <bit>
#include <charconv>

#include "eps/base/printable.h"
#include "eps/io/torch/pickle_machine.h"
#include "eps/io/torch/pickle_text.h"

namespace eps {

bool PickleMachine::run_constant(unsigned char instruction) {
  switch (instruction) {
    case 'N':  // NONE
      push(none_);
      return true;
    case 0x88:  // NEWTRUE
      push(true_);
      return true;
    case 0x89:  // NEWFALSE
      push(false_);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::run_number(unsigned char instruction) {
  switch (instruction) {
    case 'I':  // INT; protocols 0 and 1 write booleans as 00 and 01
    case 'L':  // LONG
      push_decimal(input_.line());
      return true;
    case 'J':  // BININT
      push_new(int64_t{static_cast<int32_t>(input_.little_endian<uint32_t>())});
      return true;
    case 'K':  // BININT1
      push_new(int64_t{input_.little_endian<uint8_t>()});
      return true;
    case 'M':  // BININT2
      push_new(int64_t{input_.little_endian<uint16_t>()});
      return true;
    case 0x8a:  // LONG1
      push_integer(input_.take(input_.little_endian<uint8_t>()));
      return true;
    case 0x8b:  // LONG4; a length of 2^31 and more is negative to Python and refused with the rest
      push_integer(input_.take(input_.little_endian<uint32_t>()));
      return true;
    case 'F': {  // FLOAT
      const std::string_view line = input_.line();
      double value = 0;
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
      require(error == std::errc() && end == line.data() + line.size(),
              quote(line),
              " is not a number");
      push_new(value);
      return true;
    }
    case 'G': {  // BINFLOAT, the one big-endian number
      uint64_t bits = 0;
      for (const char byte : input_.take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
      push_new(std::bit_cast<double>(bits));
      return true;
    }
    default:
      return false;
  }
}

void PickleMachine::push_integer(std::string_view little_endian) {
  const std::string_view bytes = shortest_integer(little_endian);
  if (bytes.size() > 8) return push_new(PickleBigInteger{bytes});
  const bool negative = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0;
  uint64_t value = negative ? ~uint64_t{0} : 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  push_new(static_cast<int64_t>(value));
}

void PickleMachine::push_decimal(std::string_view digits) {
  if (digits == "00") return push(false_);
  if (digits == "01") return push(true_);
  if (!digits.empty() && digits.back() == 'L') digits.remove_suffix(1);
  require(is_decimal(digits), quote(digits), " is not an integer");
  require(digits.size() <= kMaxPickleDigits, "an integer of ", digits.size(), " digits");
  push_integer(keep(integer_of_decimal(digits)));
}

bool PickleMachine::run_text(unsigned char instruction) {
  switch (instruction) {
    case 'S': {  // STRING: Python 2's repr of a str
      const std::string_view line = input_.line();
      const bool is_quoted =
          line.size() >= 2 && (line[0] == '\'' || line[0] == '"') && line.back() == line[0];
      require(is_quoted, quote(line), " is not a quoted string");
      push_new(PickleString{keep(unescape_repr(line.substr(1, line.size() - 2)))});
      return true;
    }
    case 'V':  // UNICODE
      push_new(PickleString{keep(unescape_unicode(input_.line()))});
      return true;
    case 'T':  // BINSTRING
    case 'X':  // BINUNICODE
      push_new(PickleString{input_.take(input_.little_endian<uint32_t>())});
      return true;
    case 'U':   // SHORT_BINSTRING
    case 0x8c:  // SHORT_BINUNICODE
      push_new(PickleString{input_.take(input_.little_endian<uint8_t>())});
      return true;
    case 0x8d:  // BINUNICODE8
      push_new(PickleString{input_.take(input_.little_endian<uint64_t>())});
      return true;
    default:
      return false;
  }
}

bool PickleMachine::run_bytes(unsigned char instruction) {
  switch (instruction) {
    case 'B':  // BINBYTES
      push_new(PickleBytes{input_.take(input_.little_endian<uint32_t>())});
      return true;
    case 'C':  // SHORT_BINBYTES
      push_new(PickleBytes{input_.take(input_.little_endian<uint8_t>())});
      return true;
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      push_new(PickleBytes{input_.take(input_.little_endian<uint64_t>())});
      return true;
    default:
      return false;
  }
}

}  // namespace eps
