// Whole files through the POSIX calls, which say why they failed.
#include "eps/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace eps {
namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* action) {
  const int reason = errno;
  fail(path, ": cannot ", action, ": ", std::strerror(reason));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (is_open()) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Closing can fail: some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

void write_all(const Descriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// A new name beside `path`; a crashed process with our number may have left one behind.
std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count = 0;
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(count++) + ".tmp";
}

// Removes the temporary unless it has been renamed.
class Temporary {
 public:
  explicit Temporary(std::string name) : name_(std::move(name)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  bool rename_to(const std::string& path) {
    if (std::rename(name_.c_str(), path.c_str()) != 0) return false;
    name_.clear();
    return true;
  }

 private:
  std::string name_;
};

void write_directly(const std::string& path, std::string_view bytes) {
  Descriptor file(path, O_WRONLY);
  if (!file.is_open()) fail_with_errno(path, "open for writing");
  write_all(file, bytes, path);
  if (!file.close()) fail_with_errno(path, "write");
}

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) fail_with_errno(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(path, "read");
  check(!S_ISDIR(status.st_mode), path, ": is a directory, a file is wanted");
  // One byte more than the size, so that one read takes all; pipes, whose size is 0, grow.
  std::string bytes(std::max<size_t>(static_cast<size_t>(status.st_size) + 1, 4096), '\0');
  size_t done = 0;
  while (true) {
    if (done == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(path, "read");
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    check(!S_ISDIR(status.st_mode), path, ": is a directory, a file is wanted");
    return write_directly(path, bytes);
  }
  std::string name = temporary_name(path);
  while (::access(name.c_str(), F_OK) == 0) name = temporary_name(path);
  Descriptor file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) fail_with_errno(path, "create");
  Temporary temporary(name);
  write_all(file, bytes, path);
  if (::fsync(file.get()) != 0 || !file.close()) fail_with_errno(path, "write");
  if (!temporary.rename_to(path)) fail_with_errno(path, "rename the finished file");
}

}  // namespace eps
