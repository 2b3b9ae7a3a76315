// The EXIF record of a photograph: which way up its pixels are to be shown.
#include "eps/io/images/exif.h"

namespace eps {
namespace {

constexpr size_t kTiffHeader = 8, kEntry = 12, kPointer = 4;
constexpr uint32_t kOrientation = 0x0112, kThumbnail = 0x0201, kThumbnailLength = 0x0202;
constexpr uint32_t kShort = 3;

// A `TiffBytes` reads and writes the numbers of a record; callers see to it that they lie inside.
struct TiffBytes {
  std::string bytes;
  bool is_big_endian;

  uint32_t number(size_t position, size_t size) const {
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t place = is_big_endian ? position + i : position + size - 1 - i;
      value = value << 8 | static_cast<unsigned char>(bytes[place]);
    }
    return value;
  }
  void put(size_t position, size_t size, uint32_t value) {
    for (size_t i = 0; i < size; ++i) {
      const size_t place = is_big_endian ? position + size - 1 - i : position + i;
      bytes[place] = static_cast<char>(value >> 8 * i & 255);
    }
  }
};

// A `TiffDirectory` is the extent of a directory's entries: tag (2 bytes), type (2), count (4) and
// value (4).
struct TiffDirectory {
  size_t begin, end;
};

std::optional<TiffDirectory> directory_at(const TiffBytes& record, size_t position) {
  const size_t size = record.bytes.size();
  if (position < kTiffHeader || position + 2 > size) return {};
  const size_t begin = position + 2, end = begin + kEntry * record.number(position, 2);
  if (end > size) return {};
  return TiffDirectory{begin, end};
}

// Returns the value of the first entry with this tag, if it is one number.
std::optional<uint32_t> value_of(const TiffBytes& record,
                                 const TiffDirectory& directory,
                                 uint32_t tag) {
  for (size_t entry = directory.begin; entry < directory.end; entry += kEntry) {
    if (record.number(entry, 2) != tag) continue;
    if (record.number(entry + 4, 4) != 1) return {};
    const bool is_short = record.number(entry + 2, 2) == kShort;
    return record.number(entry + 8, is_short ? 2 : 4);
  }
  return {};
}

// Sets every entry of the orientation to 1, whatever its type was.
void set_upright(TiffBytes& record, const TiffDirectory& directory) {
  for (size_t entry = directory.begin; entry < directory.end; entry += kEntry) {
    if (record.number(entry, 2) != kOrientation) continue;
    record.put(entry + 2, 2, kShort);
    record.put(entry + 4, 4, 1);
    record.put(entry + 8, 4, 0);
    record.put(entry + 8, 2, 1);
  }
}

void drop_thumbnail(TiffBytes& record, const TiffDirectory& first) {
  const size_t pointer = first.end;
  if (pointer + kPointer > record.bytes.size()) return;
  const auto second = directory_at(record, record.number(pointer, kPointer));
  record.put(pointer, kPointer, 0);
  if (!second) return;
  const uint64_t begin = value_of(record, *second, kThumbnail).value_or(0),
                 length = value_of(record, *second, kThumbnailLength).value_or(0);
  if (begin < pointer + kPointer || begin + length > record.bytes.size()) return;
  if (record.bytes.find_first_not_of('\0', begin + length) == std::string::npos)
    record.bytes.resize(begin);
}

}  // namespace

std::optional<Exif> parse_exif(std::string_view record) {
  using namespace std::string_view_literals;
  const bool is_big_endian = record.starts_with("MM\0*"sv);
  if (!is_big_endian && !record.starts_with("II*\0"sv)) return {};
  if (record.size() < kTiffHeader || record.size() > kMaxExif) return {};
  TiffBytes bytes{std::string(record), is_big_endian};
  const auto first = directory_at(bytes, bytes.number(4, 4));
  if (!first) return {};
  const uint32_t orientation = value_of(bytes, *first, kOrientation).value_or(1);
  set_upright(bytes, *first);
  drop_thumbnail(bytes, *first);
  const bool is_known = orientation >= 1 && orientation <= 8;
  return Exif{is_known ? static_cast<int>(orientation) : 1, std::move(bytes.bytes)};
}

// The value says where row 0 and column 0 of the file are to be shown: 1 top and left, 2 top and
// right, 3 bottom and right, 4 bottom and left, 5 left and top, 6 right and top, 7 right and
// bottom, 8 left and bottom.
Tensor upright(const Tensor& pixels, int orientation) {
  const bool is_turned = orientation >= 5;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  std::vector<int64_t> flipped;
  if (from_bottom) flipped.push_back(-2);
  if (from_right) flipped.push_back(-1);
  const Tensor turned = is_turned ? pixels.transpose(-2, -1) : pixels;
  return (flipped.empty() ? turned : turned.flip(flipped)).contiguous();
}

}  // namespace eps
