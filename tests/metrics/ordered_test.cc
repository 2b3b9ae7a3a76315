// Samples in order, against the library's sort.
#include "eps/metrics/ordered.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"

namespace eps {
namespace {

// Columns fill several blocks, and the last one in part; whole numbers have ties.
TEST(Ordered, EqualsASortForEveryNumberOfSamples) {
  Rng rng(1);
  for (int64_t S = 1; S <= 33; ++S) {
    const Tensor samples = (3 * rng.normal({S, 2, 3, 1500})).round();
    EXPECT_TRUE(in_order(samples).equal(std::get<0>(samples.sort(0)))) << S;
  }
}

// A comparator network that sorts all zeros and ones sorts everything.
TEST(Ordered, SortsAllZerosAndOnes) {
  for (int64_t S = 1; S <= 10; ++S) {
    const Tensor bits = at::arange(int64_t{1} << S).bitwise_right_shift(at::arange(S).unsqueeze(1));
    const Tensor samples = bits.bitwise_and(1);
    EXPECT_TRUE(in_order(samples).equal(std::get<0>(samples.sort(0)))) << S;
  }
}

TEST(Ordered, LeavesTheSamplesAsTheyAre) {
  const Tensor samples = at::tensor({3.0, 1.0, 2.0}).unsqueeze(1), before = samples.clone();
  EXPECT_TRUE(in_order(samples).flatten().equal(at::tensor({1.0, 2.0, 3.0})));
  EXPECT_TRUE(samples.equal(before));
}

}  // namespace
}  // namespace eps
