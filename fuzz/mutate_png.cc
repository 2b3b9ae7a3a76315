// Mutations of PNG files that keep the checksums right: libpng looks no further when one is wrong.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

uint32_t read_big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

// A file is a signature of 8 bytes, then chunks: length, type, content, checksum of the middle two.
void repair_checksums(uint8_t* data, size_t size) {
  for (size_t at = 8; size >= 12 && at <= size - 12;) {
    const size_t length = read_big_endian(data + at);
    if (length > size - at - 12) return;
    const auto sum = static_cast<uint32_t>(crc32(0, data + at + 4, static_cast<uInt>(length + 4)));
    for (size_t i = 0; i < 4; ++i)
      data[at + 8 + length + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data,
                                          size_t size,
                                          size_t max_size,
                                          unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  // One in eight keeps its broken checksum, so that this path is seen too.
  if (seed % 8 != 0) repair_checksums(data, size);
  return size;
}
