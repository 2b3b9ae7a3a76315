// A folder for one process alone, removed with everything in it.
#pragma once

#include <optional>
#include <string>

#include "eps/io/file_lock.h"

namespace eps::serve {

// A `PrivateFolder` is a new folder that only its owner may open, in TMPDIR or /tmp. Its destructor
// removes it. What a killed process left there is removed by the next PrivateFolder of the user.
class PrivateFolder {
 public:
  PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<FileLock> lock_;  // held while the process lives
};

// The bytes of the names of folders in it, each random_digits().
inline constexpr size_t kFolderBytes = 8;

// Returns so many bytes of the system's secure random numbers, as hexadecimal digits.
std::string random_digits(size_t bytes);

}  // namespace eps::serve
