// A folder for one process alone.
#include "eps/serve/private_folder.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "eps/io/file.h"

namespace eps::serve {
namespace {

constexpr std::time_t kBeginning = 60;  // seconds
constexpr const char *kPrefix = "eps-serve-", *kLock = "/lock";

std::string temporary_folder() {
  const char* told = std::getenv("TMPDIR");
  return told != nullptr && *told != 0 ? told : "/tmp";
}

// Removes the folders of this user whose processes are dead.
void remove_abandoned_folders(const std::string& parent) {
  std::error_code error;
  std::filesystem::directory_iterator entries(parent, error);
  if (error) return;
  for (const auto& entry : entries) {
    const std::string path = entry.path().string();
    struct stat status {};
    const bool is_ours = entry.path().filename().string().starts_with(kPrefix) &&
                         ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                         status.st_uid == ::geteuid();
    if (!is_ours) continue;
    // A folder without a lock is one whose process has just begun, or was killed then.
    if (::access((path + kLock).c_str(), F_OK) != 0) {
      if (std::time(nullptr) - status.st_mtime > kBeginning) ::rmdir(path.c_str());
      continue;
    }
    try {
      const FileLock lock(path + kLock, FileLock::IfHeld::give_up);
      if (lock.held()) remove_tree(path);
    } catch (const Error&) {
      // Another process is removing it.
    }
  }
}

}  // namespace

PrivateFolder::PrivateFolder() {
  const std::string parent = temporary_folder();
  remove_abandoned_folders(parent);
  std::string name = parent + "/" + kPrefix + "XXXXXX";
  check(::mkdtemp(name.data()) != nullptr, name, ": cannot be made: ", std::strerror(errno));
  path_ = name;
  lock_.emplace(path_ + kLock, FileLock::IfHeld::give_up);
}

PrivateFolder::~PrivateFolder() {
  try {
    remove_tree(path_);
  } catch (const std::exception&) {
    // The next server removes what cannot be removed now.
  }
}

std::string random_digits(size_t bytes) {
  std::string digits;
  for (size_t k = 0; k < bytes; ++k) {
    unsigned char byte = 0;
    check(::getentropy(&byte, 1) == 0, "the system has no random numbers: ", std::strerror(errno));
    constexpr const char* kDigits = "0123456789abcdef";
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return digits;
}

}  // namespace eps::serve
