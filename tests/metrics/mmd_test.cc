// MMD against direct sums over draws, its floor, and its expectation.
#include "eps/metrics/mmd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eps/base/random.h"

namespace eps {
namespace {

double squared_distance(const Tensor& a, const Tensor& b) {
  return (a - b).square().sum().item<double>();
}

// The median over pairs of the pooled points, by sorting.
double median_distance(const Tensor& x, const Tensor& y) {
  const Tensor points = at::cat({x, y});
  std::vector<double> all;
  for (int64_t i = 0; i < points.size(0); ++i) {
    for (int64_t j = i + 1; j < points.size(0); ++j) {
      all.push_back(std::sqrt(squared_distance(points[i], points[j])));
    }
  }
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

// Means of k over draws, image by image: pairs of different images, and a draw with itself.
struct SlowMmd {
  std::vector<int64_t> draws;
  double l;

  double pairs(const Tensor& a, const Tensor& b) const {
    double sum = 0, count = 0;
    for (const int64_t i : draws) {
      for (const int64_t j : draws) {
        if (i == j) continue;
        sum += std::exp(-squared_distance(a[i], b[j]) / (2 * l * l));
        count += 1;
      }
    }
    return sum / count;
  }
  double own(const Tensor& a, const Tensor& b) const {
    double sum = 0;
    for (const int64_t i : draws) sum += std::exp(-squared_distance(a[i], b[i]) / (2 * l * l));
    return sum / static_cast<double>(draws.size());
  }
  double paired(const Tensor& x, const Tensor& y) const {
    const double n = static_cast<double>(draws.size());
    return pairs(x, x) + pairs(y, y) - 2 * (own(x, y) / n + pairs(x, y) * (n - 1) / n);
  }
  double unpaired(const Tensor& x, const Tensor& y) const {
    return pairs(x, x) + pairs(y, y) - 2 * pairs(x, y);
  }
};

Tensor counts(const std::vector<int64_t>& draws, int64_t images) {
  const Tensor weights = at::zeros({images}, at::kDouble);
  for (const int64_t i : draws) weights[i] += 1;
  return weights;
}

TEST(Mmd, EqualsTheSumOverDrawsForEveryResampling) {
  Rng rng(1);
  const Tensor y = rng.normal({6, 2, 5}), samples = 0.5 * y + rng.normal({3, 6, 2, 5});
  const MmdStatistics found = mmd(samples, y);
  const std::vector<std::vector<int64_t>> cases = {
      {0, 1, 2, 3, 4, 5}, {3, 0, 0, 5, 0, 3}, {1, 1, 1, 1, 1, 2}};
  for (const auto& draws : cases) {
    double paired = 0, floor = 0, unpaired = 0;
    for (int64_t s = 0; s < 3; ++s) {
      const Tensor x = samples[s].flatten(1), z = y.flatten(1);
      const SlowMmd slow{draws, median_distance(x, z)};
      paired += slow.paired(x, z) / 3;
      floor += slow.paired(z, z) / 3;
      unpaired += slow.unpaired(x, z) / 3;
    }
    const Tensor weights = counts(draws, 6);
    EXPECT_NEAR(found.paired(weights), paired, 1e-13);
    EXPECT_NEAR(found.floor(weights), floor, 1e-13);
    EXPECT_NEAR(found.unpaired(weights), unpaired, 1e-13);
  }
}

// The textbook's sums, over all i, j in the cross term, without decomposing them; 40 images, where
// distances come from inner products.
TEST(Mmd, PairedIsTheUStatisticWithAFullCrossTerm) {
  Rng rng(2);
  const int64_t n = 40;
  const Tensor y = rng.normal({n, 7}), x = y + 0.3 * rng.normal({n, 7});
  const double l = median_distance(x, y);
  const auto k = [&](const Tensor& a, const Tensor& b) {
    return (-(a.unsqueeze(1) - b.unsqueeze(0)).square().sum(2) / (2 * l * l)).exp();
  };
  const Tensor within = k(x, x) + k(y, y);
  const double direct =
      ((within.sum() - within.trace()) / (n * (n - 1)) - 2 * k(x, y).sum() / (n * n))
          .item<double>();
  const MmdStatistics found = mmd(x.unsqueeze(0), y);
  const Tensor ones = at::ones({n}, at::kDouble);
  EXPECT_NEAR(found.paired(ones), direct, 1e-12);
  // The floor is -2 (1 - mean k)/n.
  const Tensor truths = k(y, y);
  const double mean_k = ((truths.sum() - truths.trace()) / (n * (n - 1))).item<double>();
  EXPECT_NEAR(found.floor(ones), -2 * (1 - mean_k) / n, 1e-12);
}

TEST(Mmd, PerfectRestorationsAreAtTheFloor) {
  const Tensor y = Rng(3).normal({30, 1, 4, 4});
  const MmdStatistics found = mmd(y.expand({2, 30, 1, 4, 4}), y);
  for (const Tensor& weights : {at::ones({30}, at::kDouble), counts({1, 1, 2, 3, 29}, 30)}) {
    EXPECT_NEAR(found.paired(weights), found.floor(weights), 1e-12);
    EXPECT_LT(found.floor(weights), 0);
    EXPECT_NEAR(found.unpaired(weights), 0, 1e-12);
  }
}

// Restorations with the law of the truths, correlated with them. Exchanging one restoration and its
// truth changes no law and no l, so the unpaired mean is exactly 0; the paired one is below by
// twice the excess of k between partners, over n. Five standard errors over 200 sets.
TEST(Mmd, UnpairedIsUnbiasedWherePairedIsNot) {
  const int64_t n = 20, sets = 200;
  Rng rng(4);
  const Tensor ones = at::ones({n}, at::kDouble);
  const Tensor paired = at::empty({sets}, at::kDouble), unpaired = at::empty_like(paired);
  for (int64_t i = 0; i < sets; ++i) {
    const Tensor y = rng.normal({n, 3});
    const MmdStatistics found = mmd((0.8 * y + 0.6 * rng.normal({n, 3})).unsqueeze(0), y);
    paired[i] = found.paired(ones);
    unpaired[i] = found.unpaired(ones);
  }
  const auto z = [&](const Tensor& values) {
    return (values.mean() / values.std()).item<double>() * std::sqrt(static_cast<double>(sets));
  };
  EXPECT_LT(std::abs(z(unpaired)), 5);
  EXPECT_LT(z(paired), -20);
}

TEST(Mmd, SeesAShiftAndIgnoresTheScale) {
  Rng rng(5);
  const Tensor y = rng.normal({50, 4}), x = rng.normal({2, 50, 4}) + 1;
  const Tensor ones = at::ones({50}, at::kDouble);
  const double value = mmd(x, y).unpaired(ones);
  EXPECT_GT(value, 0.1);
  EXPECT_NEAR(mmd(127.5 * x + 3, 127.5 * y + 3).unpaired(ones), value, 1e-10);
}

TEST(Mmd, RefusesTooFewImagesAndNanPropagates) {
  EXPECT_THROW(mmd(at::zeros({1, 2, 4}), at::ones({2, 4})), Error);
  EXPECT_THROW(mmd(at::ones({1, 5, 4}), at::ones({4, 4})), Error);
  const Tensor y = Rng(6).normal({5, 4});
  const Tensor x = y.clone().unsqueeze(0);
  x[0][1][2] = NAN;
  EXPECT_TRUE(std::isnan(mmd(x, y).paired(at::ones({5}, at::kDouble))));
}

TEST(Mmd, OfPointsThatAreAllTheSameIsNone) {
  const Tensor ones = at::ones({5}, at::kDouble);
  const MmdStatistics same = mmd(at::ones({1, 5, 4}), at::ones({5, 4}));
  EXPECT_EQ(same.paired(ones), 0);
  EXPECT_EQ(same.floor(ones), 0);
  EXPECT_EQ(same.unpaired(ones), 0);
}

}  // namespace
}  // namespace eps
