// A new folder that appears complete or not at all.
#include "eps/io/new_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "eps/io/file.h"
#include "eps/io/temporary.h"

namespace eps {
namespace {

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Returns the descriptor of the locked folder; -1 where another process holds the lock.
int lock_folder(const std::string& path, int operation) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || ::flock(folder, operation) == 0) return folder;
  ::close(folder);
  return -1;
}

// Removes the temporary folders of this name whose writers are dead.
void remove_abandoned(const std::string& stem) {
  const std::filesystem::path whole(stem);
  const std::string parent = whole.parent_path().string(), name = whole.filename().string();
  std::error_code error;
  std::filesystem::directory_iterator entries(parent.empty() ? "." : parent, error);
  if (error) return;
  std::vector<std::string> left;
  for (const auto& entry : entries)
    if (is_temporary_of(name, entry.path().filename().string())) left.push_back(entry.path());
  for (const auto& path : left) {
    const int folder = lock_folder(path, LOCK_EX | LOCK_NB);
    if (folder < 0) continue;
    remove_tree(path);
    ::close(folder);
  }
}

}  // namespace

bool NewFolder::is_free(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return !error;
  std::filesystem::directory_iterator entries(path, error);
  if (error) return false;
  return std::all_of(begin(entries), end(entries), [](const auto& entry) {
    return is_temporary_of("new", entry.path().filename().string());
  });
}

NewFolder::NewFolder(const std::string& path)
    : path_(without_last_slash(path)), inside_(std::filesystem::is_directory(path)) {
  std::error_code error;
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  check(!error, parent, ": cannot be made: ", error.message());
  const std::string stem = inside_ ? path_ + "/new" : path_;
  remove_abandoned(stem);
  // Another process may take the new folder for abandoned before it is locked, and remove it.
  do {
    if (lock_ >= 0) ::close(lock_);
    do temporary_ = temporary_name(stem);
    while (!std::filesystem::create_directory(temporary_, error) && !error);
    if (error) temporary_.clear();
    check(!error, path_, ": cannot be made: ", error.message());
    lock_ = lock_folder(temporary_, LOCK_EX);
  } while (!std::filesystem::exists(temporary_));
}

NewFolder::~NewFolder() {
  if (!temporary_.empty()) remove_tree(temporary_);
  if (lock_ >= 0) ::close(lock_);
}

void NewFolder::commit() {
  if (inside_) {
    move_files_up();
  } else if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    check(reason != ENOTEMPTY && reason != EEXIST,
          path_,
          ": another process has written it meanwhile; a new or an empty folder is wanted");
    fail(path_, ": cannot rename the finished folder: ", std::strerror(reason));
  }
  temporary_.clear();
}

void NewFolder::move_files_up() {
  const int folder = lock_folder(path_, LOCK_EX);
  const bool free = is_free(path_);
  std::error_code error;
  std::vector<std::filesystem::path> files;
  if (free)
    for (const auto& entry : std::filesystem::directory_iterator(temporary_))
      files.push_back(entry.path());
  for (const auto& file : files)
    if (!error) std::filesystem::rename(file, path_ / file.filename(), error);
  if (free && !error) std::filesystem::remove(temporary_, error);
  if (folder >= 0) ::close(folder);
  check(free,
        path_,
        ": another process has written it meanwhile; a new or an empty folder is wanted");
  check(!error, path_, ": cannot be written: ", error.message());
}

}  // namespace eps
