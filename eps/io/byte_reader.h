// A cursor over bytes in memory that cannot pass their end, shared by the binary readers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "eps/base/core.h"

namespace eps {

class ByteReader {
 public:
  // `name` stands for the bytes in messages and must outlive the reader.
  ByteReader(std::string_view bytes, const std::string& name, size_t position = 0)
      : bytes_(bytes), name_(name), position_(position) {
    check(position <= bytes.size(), name, ": byte ", position, " is past its ", bytes.size());
  }

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  // Returns the next `count` bytes, a view into the input.
  std::string_view take(uint64_t count) {
    check(count <= remaining(),
          name_,
          ": needs ",
          count,
          " bytes at byte ",
          position_,
          " but has ",
          remaining());
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  template <class Unsigned>
  Unsigned little_endian() {
    static_assert(std::is_unsigned_v<Unsigned>);
    uint64_t value = 0;
    int shift = 0;
    for (const char byte : take(sizeof(Unsigned))) {
      value |= static_cast<uint64_t>(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    return static_cast<Unsigned>(value);
  }

  // Returns the text up to the next newline, and skips the newline.
  std::string_view line() {
    const size_t length = bytes_.substr(position_).find('\n');
    check(length != std::string_view::npos, name_, ": no end of line after byte ", position_);
    return take(length + 1).substr(0, length);
  }

 private:
  const std::string_view bytes_;
  const std::string& name_;
  size_t position_;
};

}  // namespace eps
