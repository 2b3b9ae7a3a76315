// What a PNG says of its pixels, in chunks beside them (ISO/IEC 15948, section 11.3). libpng would
// take the memory that a chunk claims, and what it keeps of profiles differs between its versions.
#include "eps/io/images/png_format.h"

#include <zlib.h>

#include <algorithm>

#include "eps/io/images/exif.h"
#include "eps/io/images/icc_profile.h"
#include "eps/io/images/image_codecs.h"

namespace eps {
namespace {

// The sizes of the chunks that a format keeps as they are.
constexpr std::pair<std::string_view, size_t> kColourChunks[] = {
    {"cHRM", 32}, {"cICP", 4}, {"gAMA", 4}, {"sRGB", 1}};

size_t number_at(std::string_view bytes, size_t position) {
  size_t value = 0;
  for (const char byte : bytes.substr(position, 4))
    value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

bool has_right_checksum(std::string_view type_and_content, size_t checksum) {
  const auto* bytes = reinterpret_cast<const Bytef*>(type_and_content.data());
  return crc32(0, bytes, static_cast<uInt>(type_and_content.size())) == checksum;
}

// Returns the content of the first chunk of this type.
std::string_view find_chunk(std::string_view png, std::string_view type) {
  constexpr size_t kFrame = 12;  // length in front of type and content, checksum behind them
  for (size_t at = kPngSignature.size(); at + kFrame <= png.size();) {
    const size_t length = number_at(png, at);
    if (length > png.size() - at - kFrame) return {};
    const std::string_view type_and_content = png.substr(at + 4, 4 + length);
    at += kFrame + length;
    if (!type_and_content.starts_with(type)) continue;
    if (!has_right_checksum(type_and_content, number_at(png, at - 4))) return {};
    return type_and_content.substr(4);
  }
  return {};
}

// Returns whether a chunk may name a profile so: printable Latin-1, one space at most between
// words.
bool is_icc_name(std::string_view name) {
  if (name.empty() || name.size() > 79 || name.starts_with(' ') || name.ends_with(' '))
    return false;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 32 || (code > 126 && code < 161)) return false;
  }
  return name.find("  ") == name.npos;
}

void read_icc_profile(std::string_view chunk, PictureFormat& format) {
  const size_t end = chunk.find('\0');
  // A byte for the method, deflate, follows the name.
  if (end == chunk.npos || end + 2 > chunk.size() || chunk[end + 1] != 0) return;
  const std::string_view name = chunk.substr(0, end), packed = chunk.substr(end + 2);
  constexpr size_t kLargestRatio = 1032;  // of deflate
  std::string profile(std::min(kMaxIccProfile, kLargestRatio * packed.size()), '\0');
  uLongf size = profile.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(profile.data()),
                                &size,
                                reinterpret_cast<const Bytef*>(packed.data()),
                                packed.size());
  if (status != Z_OK) return;
  profile.resize(size);
  format.icc_profile = checked_icc_profile(profile);
  if (!format.icc_profile.empty()) format.icc_name = is_icc_name(name) ? name : kIccName;
}

std::string icc_chunk(const PictureFormat& format) {
  uLongf size = compressBound(format.icc_profile.size());
  std::string packed(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(packed.data()),
                              &size,
                              reinterpret_cast<const Bytef*>(format.icc_profile.data()),
                              format.icc_profile.size());
  check(status == Z_OK, "the ICC profile cannot be compressed: zlib's status ", status);
  packed.resize(size);
  return format.icc_name + std::string(2, '\0') + packed;
}

}  // namespace

PictureFormat png_format(std::string_view png) {
  PictureFormat format{.colour_chunks = {}};
  for (const auto& [type, size] : kColourChunks) {
    const std::string_view chunk = find_chunk(png, type);
    if (chunk.size() == size) format.colour_chunks.emplace(type, chunk);
  }
  read_icc_profile(find_chunk(png, "iCCP"), format);
  const std::string_view exif = find_chunk(png, "eXIf");
  if (exif.size() <= kMaxExif) format.exif = exif;
  return format;
}

int64_t png_frames(std::string_view png) {
  const std::string_view control = find_chunk(png, "acTL");
  return control.size() == 8 ? static_cast<int64_t>(number_at(control, 0)) : 1;
}

std::vector<std::pair<std::string, std::string>> png_chunks_of(const PictureFormat& format,
                                                               int64_t channels) {
  std::vector<std::pair<std::string, std::string>> chunks;
  const bool has_profile =
      !format.icc_profile.empty() && icc_profile_suits(format.icc_profile, channels);
  for (const auto& [type, content] : format.colour_chunks)
    if (!has_profile || type != "sRGB") chunks.emplace_back(type, content);
  if (has_profile) chunks.emplace_back("iCCP", icc_chunk(format));
  if (!format.exif.empty()) chunks.emplace_back("eXIf", format.exif);
  return chunks;
}

}  // namespace eps
