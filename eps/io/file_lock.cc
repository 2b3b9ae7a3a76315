// A lock between processes that share a folder.
#include "eps/io/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace eps {

FileLock::FileLock(const std::string& path, IfHeld then)
    : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  check(fd_ >= 0, path, ": cannot be opened: ", std::strerror(errno));
  int status = 0;
  do {
    status = ::flock(fd_, then == IfHeld::wait ? LOCK_EX : LOCK_EX | LOCK_NB);
  } while (status != 0 && errno == EINTR);
  held_ = status == 0;
  if (!held_ && errno != EWOULDBLOCK) {
    const std::string reason = std::strerror(errno);
    ::close(fd_);
    fail(path, ": cannot be locked: ", reason);
  }
}

FileLock::~FileLock() { ::close(fd_); }

}  // namespace eps
