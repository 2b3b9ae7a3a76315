// A writer of ZIP archives, entry by entry, without compression and with little memory.
//
// The archive appears under its name only when it is complete. Entries carry no time, so the same
// content gives the same bytes. Beyond 65,534 entries or 4 GB, zip64 records are added.
#pragma once

#include <set>

#include "eps/io/file.h"

namespace eps {

class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path);

  // Adds an entry. `name` is in UTF-8, with / between folders. A repeated name, or 4 GB in one
  // entry, is an error.
  void add(const std::string& name, std::string_view content);

  // Writes the directory and gives the file its name. Without finish() nothing remains.
  void finish();

 private:
  const std::string path_;
  AtomicFile file_;
  uint64_t offset_ = 0;
  std::set<std::string> names_;
  std::string directory_;
};

}  // namespace eps
