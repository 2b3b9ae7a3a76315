// The memory that is left for work.
#include "eps/runtime/memory.h"

#include <gtest/gtest.h>

#include <limits>

namespace eps {
namespace {

const std::string kMachine = "MemTotal:       24000000 kB\nMemAvailable:   20000000 kB\n";

TEST(Memory, IsTheLeastThatMachineAndGroupLeave) {
  EXPECT_EQ(memory_left({.meminfo = kMachine}), int64_t{20000000} * 1024);
  EXPECT_EQ(memory_left({.meminfo = kMachine, .cgroup_max = "max\n", .cgroup_current = "5\n"}),
            int64_t{20000000} * 1024);
  EXPECT_EQ(memory_left({.meminfo = kMachine,
                         .cgroup_max = "1000000\n",
                         .cgroup_current = "600000\n",
                         .cgroup_stat = "anon 1\ninactive_file 50000\n"}),
            450000);
  EXPECT_EQ(memory_left({.meminfo = kMachine, .cgroup_max = "5\n", .cgroup_current = "7\n"}), 0);
  EXPECT_EQ(memory_left({}), std::numeric_limits<int64_t>::max());
}

TEST(Memory, OfThisMachineIsSomeMegabytesAtLeast) {
  EXPECT_GT(available_memory(at::kCPU), 1 << 20);
}

}  // namespace
}  // namespace eps
