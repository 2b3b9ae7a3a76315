// A reader of ZIP archives in memory (PKWARE's APPNOTE 6.3, sections 4.3 to 4.5).
#include "eps/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <set>

#include "eps/base/core.h"
#include "eps/base/printable.h"
#include "eps/io/byte_reader.h"
#include "eps/io/zip_format.h"

namespace eps {
namespace {

using namespace zip_format;

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kDirectorySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kDirectoryEntrySize = 46;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kDeflated = 8;
// DEFLATE spends at least one bit on every 129 bytes: a larger ratio is refused.
constexpr uint64_t kLargestRatio = 1032;

struct Directory {
  uint64_t entries, size, offset;
};

// A `Listed` is one entry of the directory, with the offset of its local header.
struct Listed {
  ZipEntry entry;
  uint64_t packed_size, offset;
};

// An `Extent` covers the bytes from the start of the local header to the end of the data.
struct Extent {
  uint64_t begin, end;
  size_t entry;
};

// Returns the offset of the end record: the last one whose comment reaches exactly to the end of
// the file.
size_t find_end_record(std::string_view bytes, const std::string& archive) {
  check(bytes.size() >= kEndSize, archive, ": not a ZIP archive (", bytes.size(), " bytes)");
  const size_t last = bytes.size() - kEndSize;
  const size_t first = last - std::min<size_t>(last, 0xffff);
  for (size_t at = last + 1; at-- > first;) {
    ByteReader reader(bytes, archive, at);
    if (reader.little_endian<uint32_t>() != kEndSignature) continue;
    reader.take(16);
    if (reader.little_endian<uint16_t>() == reader.remaining()) return at;
  }
  fail(archive, ": no end of ZIP directory; the file is cut short or not a ZIP archive");
}

Directory read_end64(std::string_view bytes, size_t end, const std::string& archive) {
  check(end >= kLocator64Size, archive, ": no room for its zip64 record");
  ByteReader locator(bytes, archive, end - kLocator64Size);
  check(locator.little_endian<uint32_t>() == kLocator64Signature,
        archive,
        ": its ZIP directory refers to a zip64 record that is not there");
  check(locator.little_endian<uint32_t>() == 0, archive, ": is split over several disks");
  const auto at = locator.little_endian<uint64_t>();
  check(at < end, archive, ": its zip64 record at byte ", at, " is past its directory");
  ByteReader record(bytes, archive, at);
  check(record.little_endian<uint32_t>() == kEnd64Signature,
        archive,
        ": no zip64 record at byte ",
        at);
  record.take(8 + 2 + 2 + 4 + 4 + 8);  // size, versions, disks, entries on this disk
  Directory directory{};
  directory.entries = record.little_endian<uint64_t>();
  directory.size = record.little_endian<uint64_t>();
  directory.offset = record.little_endian<uint64_t>();
  return directory;
}

Directory find_directory(std::string_view bytes, const std::string& archive) {
  const size_t end = find_end_record(bytes, archive);
  ByteReader record(bytes, archive, end + 4);
  const auto disk = record.little_endian<uint16_t>();
  record.take(4);  // the disk of the directory, entries on this disk
  Directory directory{};
  directory.entries = record.little_endian<uint16_t>();
  directory.size = record.little_endian<uint32_t>();
  directory.offset = record.little_endian<uint32_t>();
  if (directory.entries == kIn64Short || directory.size == kIn64 || directory.offset == kIn64) {
    directory = read_end64(bytes, end, archive);
  } else {
    check(disk == 0, archive, ": is split over several disks");
  }
  check(directory.offset <= end && directory.size <= end - directory.offset,
        archive,
        ": its ZIP directory (",
        directory.size,
        " bytes at byte ",
        directory.offset,
        ") is outside the file");
  check(directory.entries <= directory.size / kDirectoryEntrySize,
        archive,
        ": ",
        directory.entries,
        " entries cannot fit its ZIP directory of ",
        directory.size,
        " bytes");
  return directory;
}

// Reads the zip64 extra field, which holds, in this order, only the values that did not fit.
void read_extra64(std::string_view extra, Listed& listed, const std::string& archive) {
  ByteReader reader(extra, archive);
  while (reader.remaining() >= 4) {
    const auto id = reader.little_endian<uint16_t>();
    const std::string_view field = reader.take(reader.little_endian<uint16_t>());
    if (id != kZip64Extra) continue;
    ByteReader values(field, archive);
    for (uint64_t* value : {&listed.entry.size, &listed.packed_size, &listed.offset}) {
      if (*value == kIn64) *value = values.little_endian<uint64_t>();
    }
    return;
  }
}

Listed read_listed(ByteReader& directory, const std::string& archive) {
  check(directory.little_endian<uint32_t>() == kDirectorySignature,
        archive,
        ": its ZIP directory is damaged");
  Listed listed{};
  directory.take(4);  // versions
  listed.entry.encrypted = (directory.little_endian<uint16_t>() & kEncrypted) != 0;
  listed.entry.method = directory.little_endian<uint16_t>();
  directory.take(4);  // time and date
  listed.entry.crc32 = directory.little_endian<uint32_t>();
  listed.packed_size = directory.little_endian<uint32_t>();
  listed.entry.size = directory.little_endian<uint32_t>();
  const auto name_length = directory.little_endian<uint16_t>();
  const auto extra_length = directory.little_endian<uint16_t>();
  const auto comment_length = directory.little_endian<uint16_t>();
  directory.take(8);  // disk, attributes
  listed.offset = directory.little_endian<uint32_t>();
  listed.entry.name = std::string(directory.take(name_length));
  read_extra64(directory.take(extra_length), listed, archive);
  directory.take(comment_length);
  return listed;
}

// Sets the data of the entry and returns its extent. `files` ends where the directory begins.
Extent locate(std::string_view files, Listed& listed, size_t index, const std::string& archive) {
  ZipEntry& entry = listed.entry;
  const std::string label = archive + ": entry " + quote(entry.name);
  check(listed.offset <= files.size(), label, " begins outside the file");
  ByteReader header(files, label, listed.offset);
  check(header.little_endian<uint32_t>() == kLocalSignature, label, " has no local header");
  header.take(4);  // version, flags
  const auto method = header.little_endian<uint16_t>();
  header.take(4 + 4 + 4 + 4);  // time, CRC, sizes: possibly zero here, and read from the directory
  const auto name_length = header.little_endian<uint16_t>();
  const auto extra_length = header.little_endian<uint16_t>();
  check(header.take(name_length) == entry.name && method == entry.method,
        label,
        " does not agree with its local header");
  header.take(extra_length);
  entry.data = header.take(listed.packed_size);
  check(entry.method != kStored || entry.size == listed.packed_size,
        label,
        " is stored but declares ",
        entry.size,
        " bytes in ",
        listed.packed_size);
  return {listed.offset, header.position(), index};
}

void refuse_overlaps(std::vector<Extent> extents,
                     const std::vector<ZipEntry>& entries,
                     const std::string& archive) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.begin < b.begin;
  });
  for (size_t i = 1; i < extents.size(); ++i) {
    check(extents[i - 1].end <= extents[i].begin,
          archive,
          ": entries ",
          quote(entries[extents[i - 1].entry].name),
          " and ",
          quote(entries[extents[i].entry].name),
          " overlap");
  }
}

void verify_crc(std::string_view content, const ZipEntry& entry, const std::string& archive) {
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  const auto crc = static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), data, content.size()));
  check(crc == entry.crc32,
        archive,
        ": entry ",
        quote(entry.name),
        " is damaged, or was written without checksums (its CRC-32 differs)");
}

void refuse_encrypted(const ZipEntry& entry, const std::string& archive) {
  check(!entry.encrypted, archive, ": entry ", quote(entry.name), " is encrypted");
}

std::string inflate_entry(const ZipEntry& entry, const std::string& archive) {
  const std::string label = archive + ": entry " + quote(entry.name);
  check(entry.size / kLargestRatio <= entry.data.size(),
        label,
        " declares ",
        entry.size,
        " bytes, more than its ",
        entry.data.size(),
        " compressed bytes can hold");
  constexpr uint64_t kChunk = uint64_t{1} << 30;  // zlib counts in 32 bits
  std::string content(entry.size, '\0');
  z_stream stream{};
  check(inflateInit2(&stream, -MAX_WBITS) == Z_OK, label, ": zlib does not start");
  uint64_t read = 0;
  uint64_t written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.data.data() + read));
    stream.avail_in = static_cast<uInt>(std::min(kChunk, entry.data.size() - read));
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + written);
    stream.avail_out = static_cast<uInt>(std::min(kChunk, content.size() - written));
    const uInt in = stream.avail_in;
    const uInt out = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR once neither side can advance
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  inflateEnd(&stream);
  check(status == Z_STREAM_END && written == entry.size, label, " does not decompress");
  return content;
}

}  // namespace

std::vector<ZipEntry> read_zip(std::string_view bytes, const std::string& archive) {
  const Directory directory = find_directory(bytes, archive);
  const std::string_view files = bytes.substr(0, directory.offset);
  ByteReader reader(bytes.substr(directory.offset, directory.size), archive);
  std::vector<ZipEntry> entries;
  std::vector<Extent> extents;
  std::set<std::string> names;
  entries.reserve(directory.entries);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    Listed listed = read_listed(reader, archive);
    extents.push_back(locate(files, listed, i, archive));
    check(names.insert(listed.entry.name).second,
          archive,
          ": entry ",
          quote(listed.entry.name),
          " appears twice");
    entries.push_back(std::move(listed.entry));
  }
  refuse_overlaps(std::move(extents), entries, archive);
  return entries;
}

std::string_view stored_content(const ZipEntry& entry, const std::string& archive) {
  refuse_encrypted(entry, archive);
  check(entry.method == kStored,
        archive,
        ": entry ",
        quote(entry.name),
        " is compressed (method ",
        entry.method,
        "), which is not read here");
  verify_crc(entry.data, entry, archive);
  return entry.data;
}

std::string entry_content(const ZipEntry& entry, const std::string& archive) {
  if (entry.method != kDeflated) return std::string(stored_content(entry, archive));
  refuse_encrypted(entry, archive);
  std::string content = inflate_entry(entry, archive);
  verify_crc(content, entry, archive);
  return content;
}

}  // namespace eps
