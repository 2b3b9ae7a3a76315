// EXIF records and ICC profiles composed byte by byte.
#pragma once

#include "tests/image_bytes.h"

namespace eps {

// An `ExifEntry` is one entry of a directory; a value of fewer than 4 bytes is the first of them.
struct ExifEntry {
  int tag, type, count;
  uint32_t value;
};

constexpr int kOrientationTag = 0x0112, kShortType = 3, kLongType = 4;

inline ExifEntry orientation_entry(uint32_t value) {
  return {kOrientationTag, kShortType, 1, value};
}

// Returns a number in the order of the record.
inline std::string exif_number(bool is_big_endian, uint64_t value, int bytes) {
  const std::string text = big_endian(value, bytes);
  return is_big_endian ? text : std::string(text.rbegin(), text.rend());
}

inline std::string exif_directory(bool is_big_endian,
                                  const std::vector<ExifEntry>& entries,
                                  size_t next = 0) {
  const auto number = [&](uint64_t value, int bytes) {
    return exif_number(is_big_endian, value, bytes);
  };
  std::string text = number(entries.size(), 2);
  for (const auto& [tag, type, count, value] : entries) {
    text += number(static_cast<uint64_t>(tag), 2) + number(static_cast<uint64_t>(type), 2) +
            number(static_cast<uint64_t>(count), 4);
    text += type == kShortType ? number(value, 2) + std::string(2, '\0') : number(value, 4);
  }
  return text + number(next, 4);
}

// Returns a record whose first directory lies behind the header; `next` is where a second one does.
inline std::string exif_bytes(bool is_big_endian,
                              const std::vector<ExifEntry>& entries,
                              size_t next = 0) {
  const std::string header = (is_big_endian ? "MM" : "II") + exif_number(is_big_endian, 42, 2) +
                             exif_number(is_big_endian, 8, 4);
  return header + exif_directory(is_big_endian, entries, next);
}

// Returns a record with a second directory, that of a thumbnail, then the thumbnail.
inline std::string exif_with_thumbnail(bool is_big_endian, const std::string& content) {
  constexpr size_t kSecond = 8 + 2 + 12 + 4, kContent = kSecond + 2 + 2 * 12 + 4;
  const auto size = static_cast<uint32_t>(content.size());
  return exif_bytes(is_big_endian, {orientation_entry(6)}, kSecond) +
         exif_directory(is_big_endian,
                        {{0x0201, kLongType, 1, kContent}, {0x0202, kLongType, 1, size}}) +
         content;
}

// Returns a profile of the colour space "RGB " or "GRAY" without tags, but with bytes in their
// place that do not compress: libpng takes it, too.
inline std::string icc_bytes(const std::string& space, size_t size = 400) {
  std::string profile = big_endian(size, 4) + std::string(4, '\0') + big_endian(0x04300000, 4) +
                        "mntr" + space + "XYZ " + std::string(12, '\0') + "acsp";
  profile += std::string(68 - profile.size(), '\0');
  profile += big_endian(0xf6d6, 4) + big_endian(0x10000, 4) + big_endian(0xd32d, 4);  // D50
  profile += std::string(132 - profile.size(), '\0');
  for (uint32_t noise = 1; profile.size() < size; noise = noise * 1664525 + 1013904223)
    profile += static_cast<char>(noise >> 24);
  return profile;
}

}  // namespace eps
