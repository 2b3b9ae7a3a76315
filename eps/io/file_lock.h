// A lock between processes that share a folder.
//
// The lock ends with the process that holds it, however that process ends.
#pragma once

#include "eps/base/core.h"

namespace eps {

class FileLock {
 public:
  enum class IfHeld { wait, give_up };
  // Creates the file if it is missing; the file remains.
  FileLock(const std::string& path, IfHeld then);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  bool held() const { return held_; }  // false: another process holds the lock

 private:
  int fd_ = -1;
  bool held_ = false;
};

}  // namespace eps
