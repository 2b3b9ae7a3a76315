// Standard errors by resampling against closed forms.
#include "eps/metrics/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "eps/base/random.h"

namespace eps {
namespace {

// All weights that a bootstrap asks a statistic for; the first are all 1.
Tensor weights_of(int64_t images, int64_t replicates, uint64_t seed) {
  std::vector<Tensor> seen;
  const Statistic record = [&](const Tensor& weights) {
    seen.push_back(weights.clone());
    return 0.0;
  };
  bootstrap(record, images, replicates, seed);
  return at::stack(seen);
}

// The estimate from R replicates has a relative error of about 1/sqrt(2 R); sqrt((k - 1) / (4 R))
// with the kurtosis k of the mean under resampling, which is at most 3 for two values.
TEST(Bootstrap, ErrorOfAMeanIsTheClosedForm) {
  const int64_t replicates = 4000;
  for (const int64_t n : {2, 3, 5, 50}) {
    const Tensor values = Rng(1).normal({n}).exp();
    const Reading estimate = bootstrap(mean_of(values), n, replicates);
    EXPECT_DOUBLE_EQ(estimate.value, values.mean().item<double>());
    const double exact = values.std().item<double>() / std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(estimate.se / exact, 1, 5 / std::sqrt(2.0 * replicates)) << n;
  }
}

// For many images: the plain bootstrap, but for sqrt(n / (n - 1)).
TEST(Bootstrap, ErrorOfARatioOfManyImagesIsThatOfLinearisation) {
  const int64_t n = 400, replicates = 2000;
  const Tensor above = Rng(1).normal({n}) + 5, below = Rng(2).normal({n}) + 5;
  const Statistic ratio = [&](const Tensor& w) {
    return ((w * above).sum() / (w * below).sum()).item<double>();
  };
  const Reading estimate = bootstrap(ratio, n, replicates);
  const Tensor influence = (above - estimate.value * below) / below.mean();
  const double linear = influence.std().item<double>() / std::sqrt(static_cast<double>(n));
  // The second order is about (1 / (5 sqrt(n)))^2 of it.
  EXPECT_NEAR(estimate.se / linear, 1, 5 / std::sqrt(2.0 * replicates));
}

// sum_{i != j} (x_i - x_j)^2 / (2 n (n - 1)) is the sample variance: the jackknife's error of it
// has the closed form (Efron and Stein) sqrt((n - 1) / n sum_i (V_i - mean)^2), V_i without image
// i.
TEST(Bootstrap, AStatisticOfPairsOfFewImagesHasTheErrorOfTheJackknife) {
  const Tensor x = at::tensor({1.0, 2.0, 4.0}, at::kDouble);
  const auto variance = [&](const Tensor& w) {
    const Tensor n = w.sum(), mean = (w * x).sum() / n;
    return ((w * (x - mean).square()).sum() / (n - 1)).item<double>();
  };
  // Without 4, 2 and 1: variances 1/2, 9/2 and 2, with the mean 7/3.
  const double squares =
      std::pow(0.5 - 7.0 / 3, 2) + std::pow(4.5 - 7.0 / 3, 2) + std::pow(2 - 7.0 / 3, 2);
  const Reading estimate = bootstrap({variance, 2}, 3);
  EXPECT_NEAR(estimate.value, 7.0 / 3, 1e-12);
  EXPECT_NEAR(estimate.se, std::sqrt(2.0 / 3 * squares), 1e-12);
  // Of two images, one is left: no pair.
  const Reading two = bootstrap({[](const Tensor&) { return 1.0; }, 2}, 2);
  EXPECT_EQ(two.value, 1);
  EXPECT_TRUE(std::isnan(two.se));
}

TEST(Bootstrap, WeightsAreCountsOfMultinomialDraws) {
  const int64_t n = 20, replicates = 5000;
  const Tensor weights = weights_of(n, replicates, 3);
  EXPECT_TRUE(weights[0].equal(at::ones({n}, at::kDouble)));
  const Tensor drawn = weights.slice(0, 1);
  EXPECT_TRUE(drawn.equal(drawn.round()));
  EXPECT_TRUE(drawn.sum(1).equal(at::full({replicates}, 20, at::kDouble)));
  // Counts have the mean 1, the variance 1 - 1/n and the covariance -1/n. 5 standard errors; a
  // product of two counts has a variance of about 1, a square one of about 6.
  const double error = 5 / std::sqrt(static_cast<double>(replicates));
  EXPECT_LT((drawn.mean(0) - 1).abs().max().item<double>(), error);
  const Tensor second = at::matmul((drawn - 1).t(), drawn - 1) / replicates;
  const Tensor wanted = at::eye(n, at::kDouble) - 1 / static_cast<double>(n);
  EXPECT_LT((second - wanted).abs().max().item<double>(), error * std::sqrt(6.0));
}

TEST(Bootstrap, SeedsDecideAndMoreReplicatesBeginWithTheSame) {
  EXPECT_TRUE(weights_of(7, 10, 1).equal(weights_of(7, 30, 1).slice(0, 0, 11)));
  EXPECT_FALSE(weights_of(7, 10, 1).equal(weights_of(7, 10, 2)));
}

TEST(Bootstrap, OneImageHasNoError) {
  const Reading estimate = bootstrap(mean_of(at::full({1}, 2.5, at::kDouble)), 1);
  EXPECT_EQ(estimate.value, 2.5);
  EXPECT_TRUE(std::isnan(estimate.se));
}

TEST(Bootstrap, WhatIsNotFinitePropagates) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor values = at::ones({5}, at::kDouble);
    values[2] = bad;
    const Reading estimate = bootstrap(mean_of(values), 5);
    EXPECT_EQ(std::isnan(estimate.value), std::isnan(bad));
    EXPECT_FALSE(std::isfinite(estimate.value));
    EXPECT_TRUE(std::isnan(estimate.se));
  }
}

TEST(Bootstrap, WrongNumbersAreErrors) {
  const Statistic zero = [](const Tensor&) { return 0.0; };
  EXPECT_THROW(bootstrap(zero, 0), Error);
  EXPECT_THROW(bootstrap(zero, 5, 1), Error);
  EXPECT_THROW(mean_of(at::ones({2, 2})), Error);
}

}  // namespace
}  // namespace eps
