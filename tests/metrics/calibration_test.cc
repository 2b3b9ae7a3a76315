// Ranks, coverage and spread for exact posterior draws, and for draws that are too narrow.
#include "eps/metrics/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/metrics/interval.h"
#include "tests/files.h"

namespace eps {
namespace {

struct Draws {
  Tensor samples, truth;
};

// x ~ N(0, 1), y = x + sigma n: p(x | y) = N(y/(1 + sigma^2), sigma^2/(1 + sigma^2)) for each
// pixel. Samples have that mean, and `width` times its standard deviation.
Draws gaussian_model(int64_t S, int64_t N, int64_t D, uint64_t seed, double width = 1) {
  const double sigma = 0.7, shrink = 1 / (1 + sigma * sigma), std = sigma * std::sqrt(shrink);
  Rng rng(seed);
  const Tensor x = rng.normal({N, D}), y = x + sigma * rng.normal({N, D});
  return {shrink * y + width * std * rng.normal({S, N, D}), x};
}

// The same law for truth and samples, with pixels of an image that go up and down together.
Draws correlated(int64_t S, int64_t N, int64_t D, Rng& rng) {
  const Tensor all = rng.normal({S + 1, N, D}) + rng.normal({S + 1, N, 1});
  return {all.slice(0, 0, S), all[S]};
}

Tensor ranks(const Draws& e, uint64_t seed = 1) {
  Rng rng(seed, e.truth.size(0));
  return rank_histograms(e.samples, e.truth, rng);
}

// How many standard errors of a binomial over `count` pixels a fraction is from its expectation.
double binomial_z(double fraction, double expected, int64_t count) {
  return (fraction - expected) / std::sqrt(expected * (1 - expected) / static_cast<double>(count));
}

double plain(const Statistic& statistic, int64_t images) {
  return statistic(at::ones({images}, at::kDouble));
}

TEST(RankHistograms, CountTheSamplesBelowTheTruth) {
  const Tensor samples = at::tensor({4.0, 1.0, 3.0, 2.0}, at::kDouble).reshape({4, 1, 1, 1});
  const Tensor truth = at::tensor({0.5, 2.5, 2.6, 4.5}, at::kDouble).reshape({1, 4, 1});
  const Tensor h = ranks({samples.expand({4, 1, 4, 1}), truth});
  EXPECT_TRUE(h.equal(at::tensor({0.25, 0.0, 0.5, 0.0, 0.25}, at::kDouble).unsqueeze(0)));
}

// 60000 pixels; each of 10 bins within 5 standard errors.
TEST(RankHistograms, AreUniformForExactPosteriorDraws) {
  const Tensor h = ranks(gaussian_model(9, 60, 1000, 2)).mean(0);
  EXPECT_NEAR(h.sum().item<double>(), 1, 1e-12);
  for (int64_t k = 0; k < 10; ++k) {
    EXPECT_LT(std::abs(binomial_z(h[k].item<double>(), 0.1, 60000)), 5) << k;
  }
}

TEST(RankHistograms, AreUShapedForNarrowDrawsAndArchedForWideOnes) {
  for (const double width : {0.5, 2.0}) {
    const Tensor h = ranks(gaussian_model(9, 60, 1000, 3, width)).mean(0);
    const double sign = width < 1 ? 1 : -1;
    for (const int64_t end : {0, 9}) {
      EXPECT_GT(sign * binomial_z(h[end].item<double>(), 0.1, 60000), 20) << width;
    }
    EXPECT_LT(sign * binomial_z(h[5].item<double>(), 0.1, 60000), -10) << width;
  }
}

// Truth and samples all 0: every rank is as likely, so nothing looks calibrated or not by accident.
TEST(RankHistograms, TiesAreBrokenAtRandom) {
  const Tensor h = ranks({at::zeros({4, 10, 2000}), at::zeros({10, 2000})});
  for (int64_t k = 0; k < 5; ++k) {
    EXPECT_LT(std::abs(binomial_z(h.mean(0)[k].item<double>(), 0.2, 20000)), 5) << k;
  }
  // Two samples below, two equal: ranks 2, 3, 4.
  const Tensor samples = at::tensor({-1.0, -1.0, 0.0, 0.0}, at::kDouble).reshape({4, 1, 1});
  const Tensor some = ranks({samples.expand({4, 1, 9000}), at::zeros({1, 9000}, at::kDouble)})[0];
  EXPECT_EQ(some.slice(0, 0, 2).sum().item<double>(), 0);
  for (int64_t k = 2; k < 5; ++k) {
    EXPECT_LT(std::abs(binomial_z(some[k].item<double>(), 1 / 3.0, 9000)), 5) << k;
  }
}

TEST(Calibration, ChunksOfImagesGiveTheSame) {
  const auto [samples, truth] = gaussian_model(9, 5, 40, 4);
  const Tensor x = (samples * 4).round(), z = (truth * 4).round();  // with many ties
  const Tensor whole = ranks({x, z}, 7);
  Rng rng(7, std::vector<uint64_t>{3, 4}), last(7, std::vector<uint64_t>{4});
  const Tensor x2 = x.slice(1, 3), z2 = z.slice(0, 3);
  EXPECT_TRUE(whole.slice(0, 3).equal(rank_histograms(x2, z2, rng)));
  EXPECT_TRUE(whole.slice(0, 4).equal(rank_histograms(x.slice(1, 4), z.slice(0, 4), last)));
  EXPECT_FALSE(whole.equal(ranks({x, z}, 8)));
  EXPECT_TRUE(coverage(x, z, 0.7).slice(0, 3).equal(coverage(x2, z2, 0.7)));
  EXPECT_TRUE(range_coverage(x, z).slice(0, 3).equal(range_coverage(x2, z2)));
  const SpreadSkill all = spread_skill(x, z), some = spread_skill(x2, z2);
  EXPECT_TRUE(all.variance.slice(0, 3).equal(some.variance));
  EXPECT_TRUE(all.squared_error.slice(0, 3).equal(some.squared_error));
}

TEST(RankDeviation, IsTheDistanceOfTheWeightedMeanFromUniform) {
  const Tensor h = at::tensor({1.0, 0.0, 0.0, 0.0, 0.5, 0.5}, at::kDouble).reshape({2, 3});
  // Means: (1/2, 1/4, 1/4), and with the second image twice in three (1/3, 1/3, 1/3).
  EXPECT_NEAR(plain(rank_deviation(h), 2), 1 / 6.0 + 1 / 12.0 + 1 / 12.0, 1e-15);
  EXPECT_NEAR(rank_deviation(h)(at::tensor({1.0, 2.0}, at::kDouble)), 0, 1e-15);
}

TEST(RankChi2, WeightsAreAsGoodAsCopies) {
  Rng rng(5);
  const Tensor h = ranks(correlated(4, 6, 30, rng));
  const Tensor copies = at::tensor({2, 0, 1, 1, 0, 2}, at::kLong);
  const Tensor repeated = h.repeat_interleave(copies, 0);
  EXPECT_NEAR(rank_chi2(h)(copies.to(at::kDouble)), plain(rank_chi2(repeated), 6), 1e-12);
  const Tensor mean = h.mean(0);
  const double direct = ((mean - 0.2).square().sum() / (h.var(0).sum() / 6)).item<double>();
  EXPECT_NEAR(plain(rank_chi2(h), 6), direct, 1e-12);
}

// 150 sets of 60 images with strongly dependent pixels: the mean within 5 standard errors of 1 (the
// ratio's own bias is of the order 1/60, a third of one).
TEST(RankChi2, IsOneForCalibratedSamplesHoweverPixelsDepend) {
  const int64_t sets = 150, images = 60;
  const Tensor values = at::empty({sets}, at::kDouble);
  Rng rng(6);
  for (int64_t i = 0; i < sets; ++i) {
    values[i] = plain(rank_chi2(ranks(correlated(4, images, 20, rng), 10 + i)), images);
  }
  EXPECT_NEAR(values.mean().item<double>(),
              1,
              5 * values.std().item<double>() / std::sqrt(static_cast<double>(sets)));
  EXPECT_GT(plain(rank_chi2(ranks(gaussian_model(4, images, 20, 7, 0.5))), images), 10);
}

TEST(Coverage, NeedsTheSamplesThatItsIntervalHas) {
  EXPECT_EQ(samples_for_level(0.5), 3);
  EXPECT_EQ(samples_for_level(0.8), 9);
  EXPECT_EQ(samples_for_level(0.9), 19);
  EXPECT_EQ(samples_for_level(0.95), 39);
  EXPECT_EQ(error_of([] {
              coverage(at::zeros({8, 1, 2}), at::zeros({1, 2}), 0.8);
            }),
            "coverage: level 0.8 needs 9 samples or more, got 8");
  EXPECT_THROW(samples_for_level(1), Error);
  EXPECT_THROW(samples_for_level(0), Error);
}

// Four samples at level 0.5: ends at the positions 1.25 and 3.75, both inside.
TEST(Coverage, EndsAreInterpolatedOrderStatistics) {
  const Tensor samples = at::tensor({30.0, 0.0, 20.0, 10.0}, at::kDouble).reshape({4, 1, 1});
  const auto inside = [&](double truth) {
    return coverage(samples, at::full({1, 1}, truth, at::kDouble), 0.5).item<double>();
  };
  EXPECT_EQ(inside(2.4), 0);
  EXPECT_EQ(inside(2.5), 1);
  EXPECT_EQ(inside(27.5), 1);
  EXPECT_EQ(inside(27.6), 0);
}

// At whole positions an end is a sample itself, and a truth that equals it is inside.
TEST(Coverage, EndsAtWholePositionsAreSamples) {
  for (const auto& [count, level, first] :
       {std::tuple(9, 0.8, 1), {19, 0.8, 2}, {19, 0.9, 1}, {39, 0.95, 1}, {39, 0.5, 10}}) {
    const Tensor samples = at::arange(1, count + 1, at::kDouble).flip(0).reshape({count, 1, 1});
    const double low = first, high = count + 1 - first;
    const Tensor truth = at::tensor({low, low - 1e-9, high, high + 1e-9}, at::kDouble).unsqueeze(0);
    const Tensor found = coverage(samples.expand({count, 1, 4}), truth, level);
    EXPECT_EQ(found.item<double>(), 0.5) << count << " " << level;
  }
}

// 60000 pixels, 5 standard errors.
TEST(Coverage, IsTheLevelForExactPosteriorDraws) {
  const auto [samples, truth] = gaussian_model(39, 20, 3000, 8);
  for (const double level : {0.5, 0.8, 0.9, 0.95}) {
    const double found = coverage(samples, truth, level).mean().item<double>();
    EXPECT_LT(std::abs(binomial_z(found, level, 60000)), 5) << level;
  }
  for (const int64_t S : {2, 9}) {
    const double found = range_coverage(samples.slice(0, 0, S), truth).mean().item<double>();
    const double level = static_cast<double>(S - 1) / static_cast<double>(S + 1);
    EXPECT_LT(std::abs(binomial_z(found, level, 60000)), 5) << S;
  }
  const auto narrow = gaussian_model(39, 20, 3000, 8, 0.5);
  EXPECT_LT(coverage(narrow.samples, narrow.truth, 0.9).mean().item<double>(), 0.7);
}

// 60000 pixels, 5 standard errors: exact for a Gaussian, and from 19 samples on for any law.
TEST(Coverage, OfTheIntervalThatIsGivenIsNinetyPercentOfAnyNumberOfSamples) {
  const auto [samples, truth] = gaussian_model(39, 20, 3000, 8);
  for (const int64_t S : {2, 4, 8, 18, 19, 39}) {
    const Tensor found = interval_coverage(samples.slice(0, 0, S), truth);
    EXPECT_LT(std::abs(binomial_z(found.mean().item<double>(), 0.9, 60000)), 5) << S;
    if (S >= 19) {
      EXPECT_TRUE(found.equal(coverage(samples.slice(0, 0, S), truth, 0.9)));
    }
  }
  EXPECT_EQ(error_of([] {
              interval_coverage(at::zeros({1, 1, 2}), at::zeros({1, 2}));
            }),
            "interval: at least 2 samples of each image are wanted, got 1");
}

TEST(Coverage, OfATruthThatEqualsAllSamplesIsOne) {
  const Tensor zeros = at::zeros({9, 2, 5});
  EXPECT_EQ(coverage(zeros, zeros[0], 0.8).mean().item<double>(), 1);
  EXPECT_EQ(range_coverage(zeros, zeros[0]).mean().item<double>(), 1);
}

// Samples of `width` standard deviations: variance w^2 (S + 1)/S against 1 + w^2/S. The ratio's
// standard error is the bootstrap's; five of them, over 100 images.
TEST(SpreadSkill, RatioIsTheClosedFormAndOneForExactDraws) {
  const int64_t S = 4, N = 100;
  for (const double width : {0.5, 1.0, 2.0}) {
    const auto [samples, truth] = gaussian_model(S, N, 200, 9, width);
    const Reading ratio = bootstrap(spread_skill_ratio(spread_skill(samples, truth)), N);
    const double w2 = width * width;
    const double wanted = std::sqrt(w2 * (S + 1.0) / S / (1 + w2 / S));
    EXPECT_NEAR(ratio.value, wanted, 5 * ratio.se);
    EXPECT_LT(ratio.se, 0.02);
  }
}

TEST(SpreadSkill, PartsAreMeansOverPixels) {
  const Tensor samples = at::tensor({0.0, 1.0, 2.0, 5.0}, at::kDouble).reshape({2, 1, 2});
  const Tensor truth = at::tensor({0.0, 3.0}, at::kDouble).unsqueeze(0);
  const SpreadSkill parts = spread_skill(samples, truth);  // variances 2, 8; errors 1, 0
  EXPECT_DOUBLE_EQ(parts.variance.item<double>(), 5 * 1.5);
  EXPECT_DOUBLE_EQ(parts.squared_error.item<double>(), 0.5);
}

TEST(Calibration, WhatIsNotFiniteIsNanForItsImageOnly) {
  const auto [samples, truth] = gaussian_model(3, 2, 10, 10);
  samples[1][1][4] = NAN;
  for (const Tensor& values : {ranks({samples, truth}).sum(1),
                               coverage(samples, truth, 0.5),
                               range_coverage(samples, truth),
                               spread_skill(samples, truth).variance}) {
    EXPECT_TRUE(std::isfinite(values[0].item<double>()));
    EXPECT_TRUE(std::isnan(values[1].item<double>()));
  }
}

TEST(Calibration, TooLittleIsAnError) {
  EXPECT_THROW(rank_chi2(at::ones({1, 5})), Error);
  EXPECT_THROW(spread_skill(at::zeros({1, 2, 3}), at::zeros({2, 3})), Error);
  Rng rng(1, 3);
  EXPECT_THROW(rank_histograms(at::zeros({2, 2, 3}), at::zeros({2, 3}), rng), Error);
}

}  // namespace
}  // namespace eps
