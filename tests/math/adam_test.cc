// Adam, the learning rate's ramp and fall and the half-life of the average, against their formulas.
#include "eps/math/adam.h"

#include <gtest/gtest.h>

#include <cmath>

namespace eps {
namespace {

TEST(Adam, FollowsItsFormula) {
  const std::vector<double> gradients = {0.5, -2, 0.1, 0};
  double m = 0, v = 0, x = 1;
  Tensor parameter = at::full({1}, 1.0, at::kDouble);
  Adam adam(parameter, {});
  for (size_t i = 0; i < gradients.size(); ++i) {
    const double g = gradients[i], t = static_cast<double>(i + 1);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    x -= 1e-2 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    adam.step(at::full({1}, g, at::kDouble), 1e-2);
    EXPECT_NEAR(parameter.item<double>(), x, 1e-14);
  }
}

TEST(Adam, LearningRateRisesFromZero) {
  EXPECT_EQ(learning_rate_at(0, 1e-4, 2e6), 0);
  EXPECT_DOUBLE_EQ(learning_rate_at(500000, 1e-4, 2e6), 0.25e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(9000000, 1e-4, 2e6), 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(1, 1e-4, 0), 1e-4);
}

TEST(Adam, LearningRateFallsToZeroAtTheEnd) {
  EXPECT_EQ(decay_at(0, 1000, 400), 1);
  EXPECT_EQ(decay_at(600, 1000, 400), 1);
  EXPECT_DOUBLE_EQ(decay_at(700, 1000, 400), 0.75);
  EXPECT_DOUBLE_EQ(decay_at(999, 1000, 400), 1 / 400.0);
  EXPECT_EQ(decay_at(1000, 1000, 400), 0);
  EXPECT_EQ(decay_at(1200, 1000, 400), 0);
  EXPECT_EQ(decay_at(1000, 1000, 0), 1);
  EXPECT_DOUBLE_EQ(decay_at(250, 1000, 1000), 0.75);
}

TEST(Adam, AverageHasItsHalfLife) {
  EXPECT_NEAR(ema_weight_at(0, 256, 5e5, 0.05), 0, 1e-300);  // the first step: the network itself
  EXPECT_DOUBLE_EQ(ema_weight_at(5120, 256, 5e5, 0.05), 0.5);
  EXPECT_DOUBLE_EQ(ema_weight_at(100000000, 250000, 5e5, 0.05), std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(ema_weight_at(0, 500000, 5e5, 0), 0.5);
}

}  // namespace
}  // namespace eps
