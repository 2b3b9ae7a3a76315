// A lock between processes that share a folder. It goes with the process that holds it, however
// that ends.
#pragma once

#include "eps/base/core.h"

namespace eps {

class FileLock {
 public:
  enum class IfHeld { wait, give_up };
  // Makes the file if there is none; it stays.
  FileLock(const std::string& path, IfHeld then);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  bool held() const { return held_; }  // false: another process holds it

 private:
  int fd_ = -1;
  bool held_ = false;
};

}  // namespace eps
