// ZIP archives composed field by field, for the tests of their reader.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/io/torch/pickle_bytes.h"

namespace eps::zipped {

using pickled::little_endian;

// Returns the CRC-32 by its definition, one bit at a time.
inline uint32_t crc(const std::string& content) {
  uint32_t remainder = 0xffffffff;
  for (const char byte : content) {
    remainder ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320 : 0);
    }
  }
  return ~remainder;
}

struct File {
  std::string name;
  std::string content;
  uint16_t method = 0;
  std::string packed = {};  // compressed bytes; unused for method 0
  uint16_t flags = 0;
};

inline std::string packed_bytes(const File& file) {
  return file.method == 0 ? file.content : file.packed;
}

// Returns the fields that the local header and the directory share.
inline std::string common_fields(const File& file) {
  return little_endian(20, 2) + little_endian(file.flags, 2) + little_endian(file.method, 2) +
         little_endian(0, 4) + little_endian(crc(file.content), 4) +
         little_endian(packed_bytes(file).size(), 4) + little_endian(file.content.size(), 4) +
         little_endian(file.name.size(), 2) + little_endian(0, 2);
}

inline std::string local(const File& file) {
  return little_endian(0x04034b50, 4) + common_fields(file) + file.name + packed_bytes(file);
}

inline std::string listed(const File& file, uint64_t offset) {
  return little_endian(0x02014b50, 4) + little_endian(20, 2) + common_fields(file) +
         std::string(2 + 2 + 2 + 4, 0) + little_endian(offset, 4) + file.name;
}

inline std::string end_record(uint64_t entries, uint64_t size, uint64_t offset) {
  return little_endian(0x06054b50, 4) + little_endian(0, 4) + little_endian(entries, 2) +
         little_endian(entries, 2) + little_endian(size, 4) + little_endian(offset, 4) +
         little_endian(0, 2);
}

inline std::string archive(const std::vector<File>& files) {
  std::string bytes;
  std::string directory;
  for (const File& file : files) {
    directory += listed(file, bytes.size());
    bytes += local(file);
  }
  return bytes + directory + end_record(files.size(), directory.size(), bytes.size());
}

}  // namespace eps::zipped
