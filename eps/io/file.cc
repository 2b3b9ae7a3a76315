// Whole files through the POSIX calls, which report the reason of a failure.
#include "eps/io/file.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "eps/io/temporary.h"

namespace eps {
namespace {

[[noreturn]] void fail_with_errno(const std::string& path, const char* action) {
  const int reason = errno;
  fail(path, ": cannot ", action, ": ", std::strerror(reason));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path, int flags = O_RDONLY | O_CLOEXEC)
      : fd_(::open(path.c_str(), flags)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (is_open()) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  const int fd_;
};

// Locks the file, so that remove_temporaries() can tell that its writer is alive. Returns false if
// a sweep has already unlinked the file. A file system without locks has no sweeps either.
bool lock_temporary(int fd) {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) continue;
  struct stat status {};
  return ::fstat(fd, &status) != 0 || status.st_nlink > 0;
}

// Writes the folder, which holds the new name of a file, to the disk. Failures are ignored: not all
// file systems support this, and the file is complete either way.
void sync_folder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const Descriptor folder(parent.empty() ? "." : parent);
  if (folder.is_open()) ::fsync(folder.get());
}

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file(path);
  if (!file.is_open()) fail_with_errno(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with_errno(path, "read");
  check(!S_ISDIR(status.st_mode), path, ": is a directory, a file is wanted");
  // The buffer is one byte larger than the file, so that one read takes all; for pipes, whose size
  // is 0, it grows.
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

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    check(!S_ISDIR(status.st_mode), path_, ": is a directory, a file is wanted");
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail_with_errno(path_, "open for writing");
    return;
  }
  do {
    if (fd_ >= 0) ::close(fd_);
    temporary_ = temporary_name(path_);
    // A crashed process with the same process number may have left a file.
    while (::access(temporary_.c_str(), F_OK) == 0) temporary_ = temporary_name(path_);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) fail_with_errno(path_, "create");
  } while (!lock_temporary(fd_));
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path_, "write");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// Closing can fail: some file systems report a full disk only here.
void AtomicFile::close() {
  if (::close(std::exchange(fd_, -1)) != 0) fail_with_errno(path_, "write");
}

void AtomicFile::commit() {
  if (temporary_.empty()) return close();
  if (::fsync(fd_) != 0) fail_with_errno(path_, "write");
  // The file is renamed while the lock is held: no sweep may find it in between.
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail_with_errno(path_, "rename the finished file");
  }
  temporary_.clear();
  close();
  sync_folder(path_);
}

void remove_temporaries(const std::string& folder) {
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_temporary_of("", entry.path().filename().string())) left.push_back(entry.path());
  for (const auto& path : left) {
    const Descriptor file(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

void remove_tree(const std::string& path) {
  const auto remove_entry = [](const char* entry, const struct stat*, int, struct FTW*) {
    return ::remove(entry);
  };
  ::nftw(path.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace eps
