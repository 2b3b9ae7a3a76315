// The estimate of the measurement noise against noise that is known.
#include "eps/restore/noise_level.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "eps/operators/factories.h"
#include "tests/files.h"
#include "tests/restore/small_prior.h"
#include "tests/small_checkpoints.h"

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

// Grey levels of 8 bits: fitted, of the finest detail, and whether the two disagree.
TEST(NoiseLevel, IsTooLargeIfTheFinestDetailHasLess) {
  const double grey = 1 / 127.5;
  const Range range{0.01, 0.2};
  const auto words = [&](double fitted, double robust) {
    return noise_excess_words(fitted * grey, robust * grey, range);
  };
  EXPECT_EQ(words(6.3, 6.4), "");
  EXPECT_EQ(words(6.3, 12), "");  // texture
  EXPECT_EQ(words(8.9, 6.4), "");
  EXPECT_NE(words(9.4, 6.4).find("9.4 grey levels, is larger"), std::string::npos);
  EXPECT_EQ(words(1.275, 0), "");  // no noise: the least of the range
  EXPECT_NE(words(7.8, 0.7), "");
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

Checkpoint trained_with(const Provenance& provenance) {
  const c10::NoGradGuard no_gradients;
  return {.network = wave_network(small_ncsnpp()),
          .input = NetworkInput::eps,
          .provenance = provenance};
}

// y = x0 + sigma n of three channels, x0 of a stationary prior with a pixel deviation of 0.1 or so.
struct WhiteNoise {
  explicit WhiteNoise(double sigma) : sigma(sigma) {
    Rng rng(11);
    problem = observe(identity(), prior.sample(rng, {1, 3, kSide, kSide}), scalar(sigma), rng);
  }
  // The coefficients y_k ~ N(0, s_k + sigma^2), with the s_k of the half-plane counted as its own
  // and their mirror images; each has one real number in an orthonormal basis.
  Tensor variances() const {
    const Tensor half = small_spectrum()[0];
    const Tensor s = at::cat({half, half.slice(1, 1, kSide / 2).flip({0, 1}).roll(1, 0)}, 1);
    return s + sigma * sigma;
  }
  // Of ln sigma at the most likely sigma: Fisher's information about sigma^2 is sum 1 / (2 v_k^2).
  double standard_error() const {
    const double information = 3 * variances().square().reciprocal().sum().item<double>() / 2;
    return 1 / (std::sqrt(information) * 2 * sigma * sigma);
  }
  // d ln chi2 / d ln tau of posterior samples under an assumed noise tau, at tau = sigma and on
  // average over y, where chi2 is the mean of (s + sigma^2) tau^2 / (s + tau^2)^2 + s / (s +
  // tau^2).
  double slope() const { return -2 * (sigma * sigma / variances()).square().mean().item<double>(); }

  const double sigma;
  const Stationary prior = small_prior();
  Problem problem = {};
};

// The estimate differs from the true sigma_y by the standard error of the most likely one, by the
// error of chi2 over a few samples, by the 4% that the last noise level takes from chi2
// (method_for()) and the 1% at which the search stops, all over the slope of ln chi2.
TEST(NoiseEstimate, OfAnExactPriorIsTheTrueNoise) {
  const Checkpoint network = trained_with({.tasks = {"identity"}, .sigma_y = "0.005..0.5"});
  for (const double sigma : {0.04, 0.08, 0.2}) {
    const WhiteNoise white(sigma);
    const double slope = white.slope();
    ASSERT_LT(slope, -0.3);
    const double count = 3 * kSide * kSide * kNoiseSamples;
    const double tolerance =
        5 * white.standard_error() + 0.01 + (0.04 + 5 * std::sqrt(2 / count)) / -slope;
    EXPECT_LT(tolerance, 0.7);  // a wrong answer by a factor of two shows
    const double found = estimate_noise(network, "it", white.prior, white.problem, {.seed = 1});
    EXPECT_NEAR(std::log(found / sigma), 0, tolerance) << found << " for " << sigma;
  }
}

TEST(NoiseEstimate, IsKeptInTheTrainedRange) {
  const WhiteNoise white(0.08);
  const auto found = [&](const std::string& trained) {
    return estimate_noise(trained_with({.tasks = {"identity"}, .sigma_y = trained}),
                          "it",
                          white.prior,
                          white.problem,
                          {.seed = 1});
  };
  EXPECT_NEAR(found("0.2..0.3"), 0.2, 1e-12);
  EXPECT_NEAR(found("0.01..0.02"), 0.02, 1e-12);
  EXPECT_NEAR(found("0.05"), 0.05, 1e-12);
}

TEST(NoiseEstimate, IsSoughtInTheTrainedRange) {
  const auto range = [](const Provenance& trained, double factor) {
    const Range found = noise_search_range(trained_with(trained), "it", factor);
    return std::pair{found.low, found.high};
  };
  EXPECT_EQ(range({.tasks = {"identity"}, .sigma_y = "0.01..0.2"}, 1), std::pair(0.01, 0.2));
  EXPECT_EQ(range({.tasks = {"identity"}, .sigma_y = "0.01..0.2"}, 2), std::pair(0.005, 0.1));
  EXPECT_EQ(range({.tasks = {"identity"}, .sigma_y = "0..5"}, 1), std::pair(1e-3, 1.0));
  EXPECT_EQ(range({}, 1), std::pair(1e-3, 1.0));
  EXPECT_EQ(error_of([&] { range({.tasks = {"identity"}, .sigma_y = "0"}, 1); }),
            "it: was trained without noise; state the noise instead");
}

// y_k ~ N(0, s_k + sigma^2): the derivative of the log-likelihood over sigma^2, of which the most
// likely sigma is the root. An error e of ln chi2 moves that root by e over the slope of ln chi2.
TEST(LikelyNoise, IsTheOneOfMaximumLikelihood) {
  const Stationary prior = small_prior();
  Rng rng(5);
  const Tensor y =
      prior.sample(rng, {1, 1, kSide, kSide}) + 0.04 * rng.normal({1, 1, kSide, kSide});
  const Tensor power = at::fft_fft2(y[0][0], {}, {-2, -1}, "ortho").abs().square();
  const Tensor half = small_spectrum()[0];
  const Tensor s = at::cat({half, half.slice(1, 1, kSide / 2).flip({0, 1}).roll(1, 0)}, 1);
  ASSERT_EQ(s.sizes(), power.sizes());
  const auto expected_chi2 = [&](double sigma) {
    const Tensor total = s + sigma * sigma;
    return (power * sigma * sigma / total.square() + s / total).mean().item<double>();
  };
  double low = 0.005, high = 0.5;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    const Tensor total = s + middle * middle;
    const bool more = (power / total.square() - 1 / total).sum().item<double>() > 0;
    (more ? low : high) = middle;
  }
  const double likely = low, S = 64, M = kSide * kSide;
  const double slope =
      (std::log(expected_chi2(1.01 * likely)) - std::log(expected_chi2(likely))) / std::log(1.01);
  ASSERT_LT(slope, -0.3);
  const Operator A = circular_blur(at::ones({1, 1, 1}, at::kDouble), kSide, kSide);
  for (const double start : {0.015, 0.12}) {
    const double found = likely_noise_level(choose_method("eps:steps=30,sigma_min=0.001"),
                                            prior,
                                            {A, y, scalar(start), {}},
                                            {0.01, 0.2},
                                            {.samples = 64, .batch = 64});
    EXPECT_NEAR(std::log(found / likely), 0, 0.01 + 5 * std::sqrt(2 / (M * S)) / -slope)
        << found << " against " << likely;
  }
  const double kept = likely_noise_level(
      choose_method("eps:steps=5"), prior, {A, y, scalar(0.1), {}}, {0.1, 0.2}, {.samples = 2});
  EXPECT_NEAR(kept, 0.1, 1e-12);
}

// All samples lie beyond white and are clipped to it, as the measurement is: chi2 is 0.
TEST(LikelyNoise, OfAWhitePictureIsTheLeast) {
  const Stationary bright{at::full({1, kSide, kSide}, 9, at::kDouble), small_spectrum()};
  const Problem white{identity(), at::ones({1, 1, kSide, kSide}, at::kDouble), scalar(0.1), {}};
  EXPECT_NEAR(
      likely_noise_level(choose_method("eps:steps=5"), bright, white, {0.05, 0.2}, {.samples = 2}),
      0.05,
      1e-12);
}

}  // namespace
}  // namespace eps
