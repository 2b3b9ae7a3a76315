// The memory that is left for work.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the bytes that this process can still take on the device: on a CPU the least of what the
// machine has available, what the process's cgroup leaves of its limit and what `ulimit -v` leaves;
// on a GPU what is free and what libtorch keeps for reuse.
int64_t available_memory(at::Device device);

// A `MemoryFiles` holds the text of the files in which Linux says it; absent ones are empty.
struct MemoryFiles {
  std::string meminfo = {};         // /proc/meminfo
  std::string cgroup_max = {};      // memory.max of the cgroup, "max" without a limit
  std::string cgroup_current = {};  // memory.current
  std::string cgroup_stat = {};  // memory.stat: pages of files count as used and can be given back
};
// Returns the bytes that the files leave, or the largest number where they say nothing.
int64_t memory_left(const MemoryFiles& files);

}  // namespace eps
