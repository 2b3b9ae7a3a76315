// Reads ZIP archives held in memory: torch checkpoints and EDM datasets are such archives.
//
// Everything the archive says about itself is checked before it is used: the directory, the local
// headers, the sizes and that no two entries share bytes. Archives beyond 4 GB (zip64) are read.
// Written here, and not left to libzip, because not every GPU machine carries that library.
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
  uint64_t size = 0;      // of the content, once decompressed
  std::string_view data;  // as it lies in the archive
};

// The entries in the order of the directory, as views of `bytes`; `archive` names it in messages.
std::vector<ZipEntry> read_zip(std::string_view bytes, const std::string& archive);

// The content of a stored entry without a copy, its CRC-32 verified. Another method is an error.
std::string_view stored_content(const ZipEntry& entry, const std::string& archive);

// The content of a stored or deflated entry, its size and CRC-32 verified.
std::string entry_content(const ZipEntry& entry, const std::string& archive);

}  // namespace eps
