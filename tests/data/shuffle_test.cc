// The order of training: every image once an epoch, and a pure function of seed and position.
#include "eps/data/shuffle.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/files.h"

namespace eps {
namespace {

using Images = std::vector<int64_t>;

TEST(Shuffle, EachEpochShowsEveryImageOnce) {
  const Shuffle shuffle(101, 7);
  Images all(101);
  std::iota(all.begin(), all.end(), 0);
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    Images images = shuffle.at(101 * epoch, 101);
    EXPECT_NE(images, all);
    std::sort(images.begin(), images.end());
    EXPECT_EQ(images, all);
  }
}

TEST(Shuffle, APositionShowsTheSameImageHoweverItIsAskedFor) {
  const Shuffle shuffle(10, 3);
  const Images stream = shuffle.at(0, 1000);
  for (const int64_t first : {990, 0, 5, 8, 511, 37}) {
    for (const int64_t count : {0, 1, 4, 10}) {
      const Images expected(stream.begin() + first, stream.begin() + first + count);
      EXPECT_EQ(shuffle.at(first, count), expected);
      EXPECT_EQ(Shuffle(10, 3).at(first, count), expected);
    }
  }
  for (int64_t position = 999; position >= 0; position -= 7) {
    EXPECT_EQ(shuffle.at(position, 1)[0], stream[static_cast<size_t>(position)]);
  }
}

TEST(Shuffle, OtherSeedsAndOtherEpochsHaveOtherOrders) {
  const Shuffle shuffle(50, 1), other(50, 2);
  EXPECT_NE(shuffle.at(0, 50), other.at(0, 50));
  EXPECT_NE(shuffle.at(0, 50), shuffle.at(50, 50));
}

// Over n = 4000 epochs an image of 5 is first n/5 times, with variance n/5 * 4/5: |z| < 5.
TEST(Shuffle, EveryImageIsFirstEquallyOften) {
  const Shuffle shuffle(5, 11);
  std::vector<double> first(5);
  const int n = 4000;
  for (int epoch = 0; epoch < n; ++epoch) ++first[static_cast<size_t>(shuffle.at(5 * epoch, 1)[0])];
  for (const double count : first) {
    EXPECT_LT(std::abs(count - n / 5.0) / std::sqrt(n * 0.2 * 0.8), 5);
  }
}

TEST(Shuffle, WrongInputIsNamed) {
  EXPECT_EQ(error_of([] { Shuffle(0, 1); }), "Shuffle: at least one image is wanted, got 0");
  EXPECT_EQ(error_of([] { Shuffle(3, 1).at(-1, 2); }),
            "Shuffle: positions from 0 on are wanted, got 2 from -1");
}

}  // namespace
}  // namespace eps
