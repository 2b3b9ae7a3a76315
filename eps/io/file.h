// Whole files: one read, one atomic write, or an atomic write piece by piece.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the bytes of the file.
std::string read_file(const std::string& path);

// An `AtomicFile` replaces or creates a file in one step: the bytes go to a temporary name in the
// same folder, and commit() flushes them to the disk and renames. Without commit(), and on any
// failure, the old file is untouched and no temporary file remains. A path that is not a regular
// file (a pipe, /dev/null) is written to directly: renaming over it would destroy it.
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
  std::string temporary_;  // empty: not created, or already renamed
  int fd_ = -1;
};

// Removes the temporary files of dead writers from the folder. A living writer holds a lock on its
// file.
void remove_temporaries(const std::string& folder);

// Removes a folder with everything in it, or a file. PyTorch's libraries export a broken
// std::filesystem::remove_all, which would be called instead of the standard library's.
void remove_tree(const std::string& path);

// Writes the whole file in one call.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace eps
