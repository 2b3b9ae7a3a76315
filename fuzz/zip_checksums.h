// Makes the checksums of a mutated ZIP archive right again: readers look no further when one is
// wrong.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "eps/base/core.h"
#include "eps/io/zip.h"

namespace eps::fuzz {

// Only stored entries: a mutated compressed one rarely decompresses at all.
inline void repair_checksums(uint8_t* data, size_t size) {
  constexpr std::string_view kDirectoryEntry = "PK\1\2";
  constexpr size_t kChecksum = 16;  // its place in an entry of the directory
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    size_t at = 0;
    for (const ZipEntry& entry : read_zip(bytes, "mutated")) {
      // The directory follows all data, so the first is behind the last entry's local header.
      at = bytes.find(kDirectoryEntry, at);
      while (at != std::string_view::npos &&
             bytes.substr(at + 46, entry.name.size()) != entry.name) {
        at = bytes.find(kDirectoryEntry, at + 1);
      }
      if (at == std::string_view::npos || at + kChecksum + 4 > size) return;
      const auto* content = reinterpret_cast<const unsigned char*>(entry.data.data());
      const auto sum =
          static_cast<uint32_t>(crc32(0, content, static_cast<unsigned>(entry.data.size())));
      if (entry.method == 0) std::memcpy(data + at + kChecksum, &sum, sizeof sum);
      ++at;
    }
  } catch (const Error&) {  // no archive at all: nothing to repair
  }
}

}  // namespace eps::fuzz
