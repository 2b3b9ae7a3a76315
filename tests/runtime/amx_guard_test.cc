// The guard against AMX without palettes: when it acts, and what it leaves alone.
#include "eps/runtime/amx_guard.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace eps {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr CpuidTiles kNone{false, 0x1C, 0}, kSound{true, 0x20, 1}, kHiddenLeaf{true, 0x1C, 0},
    kEmptyLeaf{true, 0x20, 0};

// The variables after the guard has looked at this CPU.
Variables after(const CpuidTiles& cpu, Variables variables) {
  limit_instruction_set(
      cpu,
      {.has = [&](const char* name) { return variables.count(name) > 0; },
       .set = [&](const char* name, const char* value) { variables[name] = value; }});
  return variables;
}

TEST(AmxGuard, TilesAreUnsoundWhenAnnouncedWithoutAPalette) {
  EXPECT_TRUE(has_unsound_tiles(kHiddenLeaf));
  EXPECT_TRUE(has_unsound_tiles(kEmptyLeaf));
  EXPECT_TRUE(has_unsound_tiles({true, 0x1C, 1}));  // a leaf beyond the highest says nothing
  EXPECT_FALSE(has_unsound_tiles(kSound));
  EXPECT_FALSE(has_unsound_tiles({true, 0x1D, 1}));
  EXPECT_FALSE(has_unsound_tiles(kNone));
  EXPECT_FALSE(has_unsound_tiles({}));
}

TEST(AmxGuard, LimitsOneDnnOnlyWhereTilesAreUnsound) {
  const Variables limits = {{"ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16"},
                            {"DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16"}};
  EXPECT_EQ(after(kHiddenLeaf, {}), limits);
  EXPECT_EQ(after(kEmptyLeaf, {}), limits);
  EXPECT_EQ(after(kSound, {}), Variables{});
  EXPECT_EQ(after(kNone, {}), Variables{});
}

TEST(AmxGuard, LeavesAUsersOwnLimitAlone) {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    const Variables own = {{name, "AVX2"}};
    EXPECT_EQ(after(kHiddenLeaf, own), own);
  }
}

// The library was loaded before this test began.
TEST(AmxGuard, ActsWhenTheLibraryIsLoaded) {
  if (!has_unsound_tiles(cpuid_tiles())) GTEST_SKIP() << "the tiles of this CPU are sound";
  EXPECT_TRUE(std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr ||
              std::getenv("DNNL_MAX_CPU_ISA") != nullptr);
}

}  // namespace
}  // namespace eps
