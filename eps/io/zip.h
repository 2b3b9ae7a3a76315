// A reader of ZIP archives in memory, such as torch checkpoints and EDM data sets.
//
// The reader checks every claim of the archive before use: the directory, the local headers, the
// sizes and that no two entries share bytes. Archives beyond 4 GB (zip64) are read. libzip would be
// a further dependency that many GPU machines lack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eps {

struct ZipEntry {
  std::string name;
  uint16_t method = 0;  // 0: stored; 8: deflated; others are listed but cannot be read
  bool encrypted = false;
  uint32_t crc32 = 0;
  uint64_t size = 0;      // size of the content, once decompressed
  std::string_view data;  // as stored in the archive
};

// Returns the entries in the order of the directory, as views of `bytes`; `archive` is for
// messages.
std::vector<ZipEntry> read_zip(std::string_view bytes, const std::string& archive);

// Returns the content of a stored entry without a copy, after a check of its CRC-32. Throws an
// Error for any other method.
std::string_view stored_content(const ZipEntry& entry, const std::string& archive);

// Returns the content of a stored or deflated entry, after a check of its size and CRC-32.
std::string entry_content(const ZipEntry& entry, const std::string& archive);

}  // namespace eps
