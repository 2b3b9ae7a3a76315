// Reuse of the memory of large tensors.
#include "eps/runtime/kept_blocks.h"

#include <gtest/gtest.h>

namespace eps {
namespace {

constexpr size_t kLarge = KeptBlocks::kLarge, kMost = KeptBlocks::kMost;

TEST(KeptBlocks, GiveTheMemoryOfABlockOfAboutTheSize) {
  KeptBlocks blocks;
  const size_t before = KeptBlocks::kept();
  c10::DataPtr one = blocks.allocate(2 * kLarge);
  const void* const first = one.get();
  static_cast<char*>(one.get())[2 * kLarge - 1] = 1;
  EXPECT_NE(blocks.allocate(2 * kLarge).get(), first);
  EXPECT_EQ(KeptBlocks::kept(), before + 2 * kLarge);
  one.clear();
  EXPECT_EQ(KeptBlocks::kept(), before + 4 * kLarge);
  {
    const c10::DataPtr a = blocks.allocate(2 * kLarge - 1000), b = blocks.allocate(2 * kLarge);
    EXPECT_TRUE(a.get() == first || b.get() == first);
    EXPECT_EQ(KeptBlocks::kept(), before);
  }
  // A block of half the size would waste the other half.
  const c10::DataPtr half = blocks.allocate(kLarge);
  EXPECT_EQ(KeptBlocks::kept(), before + 4 * kLarge);
}

TEST(KeptBlocks, KeepSomeOnlyAndNoneThatIsTooLarge) {
  KeptBlocks blocks;
  for (int i = 0; i < 3; ++i) {
    const c10::DataPtr a = blocks.allocate(kMost / 2), b = blocks.allocate(kMost / 3);
  }
  const size_t kept = KeptBlocks::kept();
  EXPECT_GT(kept, kMost / 2);
  EXPECT_LE(kept, kMost);
  blocks.allocate(kMost + 1).clear();
  EXPECT_EQ(KeptBlocks::kept(), kept);
}

// Memory that is freed by its address alone, as oneDNN does, is kept likewise; small memory is not.
TEST(KeptBlocks, FreeRawMemory) {
  KeptBlocks blocks;
  void* const large = blocks.raw_allocate(3 * kLarge);
  blocks.raw_deallocate(large);
  EXPECT_EQ(blocks.allocate(3 * kLarge).get(), large);
  const size_t kept = KeptBlocks::kept();
  for (const size_t bytes : {size_t{0}, size_t{100}, size_t{4096}, kLarge - 1})
    blocks.raw_deallocate(blocks.raw_allocate(bytes));
  EXPECT_EQ(KeptBlocks::kept(), kept);
}

}  // namespace
}  // namespace eps
