// The estimate of the measurement noise against noise that is known.
#include "eps/restore/noise_level.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "eps/operators/factories.h"
#include "tests/files.h"

namespace eps {
namespace {

// A plane of slopes that are no multiple of the noise, in every channel.
Tensor ramp(int64_t side) {
  const Tensor step = at::arange(side, at::kDouble) / static_cast<double>(side);
  return (1.3 * step.unsqueeze(1) - 0.7 * step).expand({1, 3, side, side});
}

// The MAD of n independent normal numbers has the relative variance 1.36/n; neighbouring details
// are correlated by 1/2 (beside) and 1/4 (across), which multiplies that by at most 1 + 4/4 + 4/16.
double standard_error(double count) { return std::sqrt(1.36 * 2.25 / count); }

TEST(NoiseLevel, OfWhiteNoiseOnARampIsTheNoise) {
  for (const double sigma : {0.02, 0.3}) {
    const Tensor y = ramp(64) + sigma * Rng(1).normal({1, 3, 64, 64});
    EXPECT_NEAR(robust_noise_level(y) / sigma, 1, 5 * standard_error(3 * 63 * 63));
  }
  EXPECT_LT(robust_noise_level(ramp(64)), 1e-12);
}

TEST(NoiseLevel, IsThatOfTheMeasuredPixelsOnly) {
  Rng rng(2);
  const double sigma = 0.1;
  const Tensor mask = (rng.uniform({1, 1, 64, 64}) < 0.5).to(at::kDouble);
  // Whatever is in the holes; and zeros there, which are steps for their neighbours.
  const Tensor y = ramp(64) + sigma * rng.normal({1, 3, 64, 64});
  const double count = 3 * 63 * 63 / 16.0;
  EXPECT_NEAR(robust_noise_level(y * mask, mask) / sigma, 1, 5 * standard_error(count));
  EXPECT_EQ(robust_noise_level(y * mask, mask), robust_noise_level(y + 9 * (1 - mask), mask));
  EXPECT_GT(robust_noise_level(y * mask) / sigma, 1.5);
}

TEST(NoiseLevel, WantsNeighbours) {
  Rng rng(3);
  const Tensor y = rng.normal({1, 3, 64, 64});
  const Tensor sparse = rng.uniform({1, 1, 64, 64}) < 0.05;
  EXPECT_NE(error_of([&] { robust_noise_level(y, sparse); }).find("state it instead"),
            std::string::npos);
  EXPECT_NE(error_of([&] { robust_noise_level(y[0][0][0].unsqueeze(0)); }).find("got 1 x 64"),
            std::string::npos);
  EXPECT_NE(error_of([&] { robust_noise_level(y.slice(3, 0, 1)); }).find("0 times 2 x 2"),
            std::string::npos);
}

}  // namespace
}  // namespace eps
