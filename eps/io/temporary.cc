// Names of unfinished files and folders.
#include "eps/io/temporary.h"

#include <unistd.h>

#include <atomic>
#include <regex>

namespace eps {

std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count = 0;
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(count++) + ".tmp";
}

bool is_temporary_of(const std::string& name, const std::string& file) {
  static const std::regex ending("\\.[0-9]+\\.[0-9]+\\.tmp$");
  std::smatch found;
  if (!std::regex_search(file, found, ending)) return false;
  return name.empty() || found.prefix() == name;
}

}  // namespace eps
