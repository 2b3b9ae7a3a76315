// A writer of ZIP archives (PKWARE's APPNOTE 6.3, sections 4.3 to 4.5).
#include "eps/io/zip_writer.h"

#include <zlib.h>

#include "eps/base/printable.h"
#include "eps/io/zip_format.h"

namespace eps {
namespace {

using namespace zip_format;

constexpr uint16_t kVersion = 20;    // folders
constexpr uint16_t kVersion64 = 45;  // zip64
constexpr uint16_t kUtf8 = 1 << 11;
constexpr uint32_t kNoTime = 0x00210000;  // 1 January 1980, 00:00, as DOS wrote it

template <class Unsigned>
void put(std::string& out, Unsigned value) {
  for (size_t i = 0; i < sizeof(Unsigned); ++i) {
    out += static_cast<char>(static_cast<uint64_t>(value) >> 8 * i);
  }
}

// Returns the fields that the local header and the directory share, up to the length of the name.
std::string common_fields(const std::string& name, std::string_view content, uint16_t version) {
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  std::string out;
  put<uint16_t>(out, version);
  put<uint16_t>(out, kUtf8);
  put<uint16_t>(out, kStored);
  put<uint32_t>(out, kNoTime);
  put<uint32_t>(out, static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), data, content.size())));
  put<uint32_t>(out, static_cast<uint32_t>(content.size()));
  put<uint32_t>(out, static_cast<uint32_t>(content.size()));
  put<uint16_t>(out, static_cast<uint16_t>(name.size()));
  return out;
}

std::string directory_entry(const std::string& common, const std::string& name, uint64_t offset) {
  const bool is_far = offset >= kIn64;
  std::string extra;
  if (is_far) {
    put<uint16_t>(extra, kZip64Extra);
    put<uint16_t>(extra, sizeof offset);
    put<uint64_t>(extra, offset);
  }
  std::string out = "PK\x01\x02";
  put<uint16_t>(out, is_far ? kVersion64 : kVersion);
  out += common;
  put<uint16_t>(out, static_cast<uint16_t>(extra.size()));
  out.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
  put<uint32_t>(out, static_cast<uint32_t>(std::min(offset, kIn64)));
  return out + name + extra;
}

// Returns the zip64 record of the directory, and the record that locates it.
std::string end64(uint64_t entries, uint64_t size, uint64_t offset) {
  std::string out("PK\x06\x06", 4);
  put<uint64_t>(out, 44);  // bytes that follow in this record
  put<uint16_t>(out, kVersion64);
  put<uint16_t>(out, kVersion64);
  put<uint64_t>(out, 0);  // disks
  put<uint64_t>(out, entries);
  put<uint64_t>(out, entries);
  put<uint64_t>(out, size);
  put<uint64_t>(out, offset);
  out.append("PK\x06\x07", 4);
  put<uint32_t>(out, 0);
  put<uint64_t>(out, offset + size);
  put<uint32_t>(out, 1);  // disks in all
  return out;
}

std::string end_record(uint64_t entries, uint64_t size, uint64_t offset) {
  std::string out;
  if (entries >= kIn64Short || size >= kIn64 || offset >= kIn64) out = end64(entries, size, offset);
  out.append("PK\x05\x06", 4);
  put<uint32_t>(out, 0);  // disks
  put<uint16_t>(out, static_cast<uint16_t>(std::min(entries, kIn64Short)));
  put<uint16_t>(out, static_cast<uint16_t>(std::min(entries, kIn64Short)));
  put<uint32_t>(out, static_cast<uint32_t>(std::min(size, kIn64)));
  put<uint32_t>(out, static_cast<uint32_t>(std::min(offset, kIn64)));
  put<uint16_t>(out, 0);  // comment
  return out;
}

}  // namespace

ZipWriter::ZipWriter(const std::string& path) : path_(path), file_(path) {}

void ZipWriter::add(const std::string& name, std::string_view content) {
  check(!name.empty() && name.size() < kIn64Short,
        path_,
        ": the name of an entry has 1 to 65534 bytes, got ",
        name.size());
  check(content.size() < kIn64,
        path_,
        ": entry ",
        quote(name),
        " has ",
        content.size(),
        " bytes, less than 4 GB is wanted");
  check(names_.insert(name).second, path_, ": entry ", quote(name), " is written twice");
  const std::string common = common_fields(name, content, kVersion);
  std::string header = "PK\x03\x04" + common;
  put<uint16_t>(header, 0);  // extra
  header += name;
  directory_ += directory_entry(common, name, offset_);
  file_.write(header);
  file_.write(content);
  offset_ += header.size() + content.size();
}

void ZipWriter::finish() {
  file_.write(directory_);
  file_.write(end_record(names_.size(), directory_.size(), offset_));
  file_.commit();
}

}  // namespace eps
