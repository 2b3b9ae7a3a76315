// Whole files in and out: one read, one atomic write, or an atomic write piece by piece.
#pragma once

#include "eps/base/core.h"

namespace eps {

// The bytes of the file.
std::string read_file(const std::string& path);

// Replaces the file, or makes it, in one step: the bytes go to a temporary name in the same folder,
// and commit() brings them to the disk and renames. Without commit(), and on any failure, the old
// file is untouched and no temporary stays. A path that is no regular file (a pipe, /dev/null) is
// written to directly: renaming over it would destroy it.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  void close();

  const std::string path_;
  std::string temporary_;  // empty: there is none, or it has been renamed
  int fd_ = -1;
};

// Removes the temporary files of dead writers from the folder. A living one holds a lock on its
// own.
void remove_temporaries(const std::string& folder);

// All of it in one call.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace eps
