// PNG and JPEG files composed byte by byte, with known decoded pixels.
#pragma once

#include <array>
#include <string>

namespace eps {

inline std::string big_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> 8 * i);
  return text;
}

inline std::string png_chunk(const std::string& type, const std::string& content) {
  uint32_t crc = 0xffffffff;
  for (const char c : type + content) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return big_endian(content.size(), 4) + type + content + big_endian(~crc, 4);
}

// Returns the data as one uncompressed deflate block.
inline std::string zlib_stored(const std::string& data) {
  uint32_t a = 1, b = 0;
  for (const char c : data) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<uint16_t>(data.size());
  const auto twice = [](uint16_t n) {
    return std::string{static_cast<char>(n & 255), static_cast<char>(n >> 8)};
  };
  return std::string("\x78\x01\x01") + twice(size) + twice(static_cast<uint16_t>(~size)) + data +
         big_endian(b << 16 | a, 4);
}

// A `PngImage` holds the parts of a PNG file. Colour types: 0 grey, 2 RGB, 3 palette, 4 grey with
// alpha, 6 RGB with alpha.
struct PngImage {
  uint32_t width, height;
  int bits, colour_type;
  std::string rows;            // each with its filter byte in front
  std::string extra_chunks{};  // between the header and the data
  int interlace = 0;
};

inline std::string png_bytes(const PngImage& image) {
  const std::string header = big_endian(image.width, 4) + big_endian(image.height, 4) +
                             static_cast<char>(image.bits) + static_cast<char>(image.colour_type) +
                             '\0' + '\0' + static_cast<char>(image.interlace);
  return std::string("\x89PNG\r\n\x1a\n") + png_chunk("IHDR", header) + image.extra_chunks +
         png_chunk("IDAT", zlib_stored(image.rows)) + png_chunk("IEND", "");
}

inline std::string jpeg_segment(int marker, const std::string& content) {
  return std::string("\xff") + static_cast<char>(marker) + big_endian(content.size() + 2, 2) +
         content;
}

// Returns the header of a JPEG. Quantisation by 8 makes a DC coefficient an offset from 128; the
// codes '0' and '10' are the DC categories 0 and 7, and '0' is the AC end-of-block.
inline std::string jpeg_start(int frame_marker, int width, int height, int components) {
  std::string frame = std::string("\x08") + big_endian(static_cast<uint64_t>(height), 2) +
                      big_endian(static_cast<uint64_t>(width), 2) + static_cast<char>(components);
  for (int i = 0; i < components; ++i) frame += std::string{static_cast<char>(i + 1), '\x11', '\0'};
  const auto counts = [](int ones, int twos) {
    return std::string{static_cast<char>(ones), static_cast<char>(twos)} + std::string(14, '\0');
  };
  return std::string("\xff\xd8") +
         jpeg_segment(0xdb, std::string(1, '\0') + std::string(64, '\x08')) +
         jpeg_segment(frame_marker, frame) +
         jpeg_segment(0xc4, std::string(1, '\0') + counts(1, 1) + std::string("\0\7", 2)) +
         jpeg_segment(0xc4, std::string(1, '\x10') + counts(1, 0) + '\0');
}

// Returns a scan of all components: coefficients `first` to `last`, with the
// successive-approximation bits `high` and `low`.
inline std::string jpeg_scan(
    int components, int first, int last, int high, int low, const std::string& data) {
  std::string header(1, static_cast<char>(components));
  for (int i = 0; i < components; ++i) header += std::string{static_cast<char>(i + 1), '\0'};
  header += static_cast<char>(first);
  header += static_cast<char>(last);
  header += static_cast<char>(high << 4 | low);
  return jpeg_segment(0xda, header) + data;
}

constexpr const char* kJpegEnd = "\xff\xd9";

}  // namespace eps
