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

// Under resampling the mean has the variance (n - 1)/n s^2 / n; its estimate from R replicates has
// a relative error of about 1/sqrt(2 R).
TEST(Bootstrap, ErrorOfAMeanIsTheClosedForm) {
  const int64_t n = 50, replicates = 4000;
  const Tensor values = Rng(1).normal({n}).exp();
  const Reading estimate = bootstrap(mean_of(values), n, replicates);
  EXPECT_DOUBLE_EQ(estimate.value, values.mean().item<double>());
  const double exact = values.std(false).item<double>() / std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(estimate.se / exact, 1, 5 / std::sqrt(2.0 * replicates));
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
