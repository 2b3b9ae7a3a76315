// The memory that is left for work.
#include "eps/runtime/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "eps/runtime/device_memory.h"

namespace eps {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the number behind a name in a file of lines "name 123" or "name: 123 kB"; -1: none.
int64_t number_behind(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    int64_t number = -1;
    if (words >> word >> number && word == name) return number;
  }
  return -1;
}

// Returns the number that the text is; -1: none, as for "max".
int64_t leading_number(const std::string& text) {
  int64_t number = -1;
  std::istringstream(text) >> number;
  return number > 0 || text.starts_with('0') ? number : -1;
}

// Returns the folder of this process's cgroup (version 2).
std::string cgroup_folder() {
  std::istringstream lines(text_of("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3) + "/";
  return "/sys/fs/cgroup/";
}

// Returns what the limit on the address space leaves.
int64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const int64_t used = number_behind(text_of("/proc/self/status"), "VmSize:") * 1024;
  return std::max<int64_t>(static_cast<int64_t>(limit.rlim_cur) - used, 0);
}

}  // namespace

int64_t memory_left(const MemoryFiles& files) {
  int64_t left = kUnlimited;
  if (const int64_t kilobytes = number_behind(files.meminfo, "MemAvailable:"); kilobytes >= 0)
    left = kilobytes * 1024;
  const int64_t most = leading_number(files.cgroup_max),
                used = leading_number(files.cgroup_current);
  if (most >= 0 && used >= 0) {
    const int64_t of_files =
        std::max<int64_t>(number_behind(files.cgroup_stat, "inactive_file"), 0);
    left = std::min(left, std::max<int64_t>(most - used + of_files, 0));
  }
  return left;
}

int64_t available_memory(at::Device device) {
  if (!device.is_cpu()) return available_device_memory(device);
  const std::string cgroup = cgroup_folder();
  const int64_t left = memory_left({.meminfo = text_of("/proc/meminfo"),
                                    .cgroup_max = text_of(cgroup + "memory.max"),
                                    .cgroup_current = text_of(cgroup + "memory.current"),
                                    .cgroup_stat = text_of(cgroup + "memory.stat")});
  return std::min(left, address_space_left());
}

}  // namespace eps
