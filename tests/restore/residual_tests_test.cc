// The tests of residuals under their null law, and under operators that are wrong.
#include "eps/restore/residual_tests.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/io/npy.h"
#include "eps/operators/factories.h"
#include "eps/restore/restoration.h"
#include "tests/files.h"
#include "tests/restore/small_prior.h"

namespace eps {
namespace {

// Smooth images within [-0.6, 0.6].
Tensor smooth_images(int64_t count, int64_t channels, int64_t side, Rng& rng) {
  const Tensor noise = rng.normal({count, channels, side, side});
  const Tensor smooth =
      circular_blur(gaussian_kernel(1.5, 9).unsqueeze(0), side, side)->apply(noise);
  return (0.25 * smooth / smooth.std()).clamp(-0.6, 0.6);
}

// Images that are one draw of each problem's posterior: the truth itself is one.
std::map<std::string, std::vector<double>> null_values(const Operator& A,
                                                       int64_t count,
                                                       std::optional<Border> border = {},
                                                       const NoiseModel& noise = {}) {
  std::map<std::string, std::vector<double>> all;
  Rng rng(5);
  for (int64_t k = 0; k < count; ++k) {
    const Tensor x = smooth_images(1, 3, 32, rng);
    Problem problem = observe(A, x, scalar(0.05), rng);
    ResidualSetting setting{.border = border};
    if (!noise.is_white()) {
      const Tensor clean = A->apply(x);
      problem.y = clean + A->format().measured(draw_noise(noise, clean, 0.05, rng));
      setting.whitening = whitening_of(noise, problem);
    }
    for (const auto& one : test_residuals(problem, x, setting).statistics)
      all[one.name].push_back(one.z);
  }
  return all;
}

// 300 values of mean 0 and variance 1, each within 5 standard errors: of the variance, at most that
// of products and squares of normal numbers, whose mean over a thousand entries is almost normal.
void expect_standard(const std::map<std::string, std::vector<double>>& values, size_t statistics) {
  EXPECT_EQ(values.size(), statistics);
  for (const auto& [name, z] : values) {
    const Tensor all = at::tensor(z, at::kDouble);
    const double n = static_cast<double>(z.size());
    EXPECT_NEAR(all.mean().item<double>(), 0, 5 / std::sqrt(n)) << name;
    EXPECT_NEAR(all.var().item<double>(), 1, 5 * std::sqrt(2 / n)) << name;
  }
}

TEST(ResidualTests, AreStandardNormalForWhiteNoise) {
  const Tensor kernel = motion_kernel(7, 30).unsqueeze(0);
  expect_standard(null_values(circular_blur(kernel, 32, 32), 300, Border::circular), 15);
  expect_standard(null_values(blur(kernel, 32, 32, Border::reflect), 100, Border::reflect), 15);
  expect_standard(null_values(blur(kernel, 32, 32, Border::replicate), 100, Border::replicate), 15);
  expect_standard(null_values(blur(kernel, 32, 32, Border::valid), 100, Border::valid), 14);
  Rng rng(6);
  expect_standard(null_values(inpainting((rng.uniform({1, 1, 32, 32}) < 0.5).to(at::kDouble)), 300),
                  13);
  expect_standard(null_values(average_pool(2), 300), 13);
}

// Noise that is not one number is whitened, and so is what the residual is compared with.
// Deviations of 0.02 to 0.4: y exceeds [-1, 1], or keeps to it.
TEST(ResidualTests, AreStandardNormalForWhitenedNoise) {
  const Folder folder;
  const std::string map = folder.file("map.npy"), spectrum = folder.file("spectrum.npy");
  const Tensor ramp = at::linspace(0.02, 0.4, 32, at::kDouble);
  write_npy(map, ramp.unsqueeze(1).expand({32, 32}).contiguous());
  write_npy(spectrum,
            (0.001 + 0.05 * at::linspace(1, 0, 17, at::kDouble)).expand({32, 17}).clone());
  const Tensor kernel = motion_kernel(7, 30).unsqueeze(0);
  const Operator A = circular_blur(kernel, 32, 32);
  expect_standard(null_values(A, 100, Border::circular, {.map = map}), 15);
  expect_standard(null_values(A, 100, Border::circular, {.spectrum = spectrum}), 15);
  expect_standard(null_values(A, 100, Border::circular, {.channels = {0.02, 0.1, 0.3}}), 15);
  expect_standard(null_values(identity(), 100, {}, {.map = map}), 13);
}

// 8 bits clip a picture whatever its weights are.
TEST(ResidualTests, KnowWhereWhitenedNoiseIsClipped) {
  const Folder folder;
  const std::string map = folder.file("map.npy");
  write_npy(map, at::linspace(0.02, 0.2, 64, at::kDouble).expand({64, 64}).contiguous());
  const NoiseModel noise{.map = map};
  Rng rng(8);
  for (int k = 0; k < 5; ++k) {
    const Tensor x = (6 * smooth_images(1, 3, 64, rng)).clamp(-1, 1);
    Problem problem{.A = identity(), .y = x};
    problem.y = (x + draw_noise(noise, x, 0.05, rng)).mul(127.5).round().div(127.5).clamp(-1, 1);
    const ResidualSetting setting{.whitening = whitening_of(noise, problem)};
    EXPECT_FALSE(test_residuals(problem, x, setting).any_found()) << k;
  }
}

// What was stored is y and an offset.
TEST(ResidualTests, KnowWhereAnOffsetMeasurementIsClipped) {
  Rng rng(8);
  const Tensor x = (6 * smooth_images(1, 3, 64, rng)).clamp(-1, 1);
  Problem problem = observe(identity(), x, scalar(0.1), rng);
  const Tensor offset = at::full({1, 1, 64, 64}, 0.3, at::kDouble);
  problem.y = (problem.y + offset).clamp(-1, 1) - offset;
  EXPECT_FALSE(test_residuals(problem, x, {.offset = offset}).any_found());
  EXPECT_TRUE(test_residuals(problem, x).any_found());
}

// Samples of an exact prior's posterior: the mean of 8 that share y has a variance of 1 at most.
TEST(ResidualTests, HaveLessVarianceForSamplesOfOneMeasurement) {
  const Stationary prior = small_prior();
  const Operator A = circular_blur(gaussian_kernel(1, 7).unsqueeze(0), kSide, kSide);
  std::map<std::string, std::vector<double>> all;
  Rng rng(7);
  const int64_t count = 100;
  for (int64_t k = 0; k < count; ++k) {
    const Tensor x0 = prior.sample(rng, {1, 1, kSide, kSide});
    const Problem problem = observe(A, x0, scalar(0.05), rng);
    const Restoration r = restore(choose_method("eps:steps=20"),
                                  prior,
                                  problem,
                                  {.samples = 8, .seed = static_cast<uint64_t>(k)});
    const ResidualTests tests = test_residuals(problem, r.samples, {.border = Border::circular});
    EXPECT_FALSE(tests.any_found()) << k;
    for (const auto& one : tests.statistics) all[one.name].push_back(one.z);
  }
  for (const auto& [name, z] : all) {
    const Tensor values = at::tensor(z, at::kDouble);
    EXPECT_LT(std::abs(values.mean().item<double>()), 5 / std::sqrt(count)) << name;
    EXPECT_LT(values.var().item<double>(), 1 + 5 * std::sqrt(2.0 / count)) << name;
  }
}

// Values stored in 8 bits and clipped at both ends.
TEST(ResidualTests, DoNotTakeClippedNoiseForStructure) {
  Rng rng(8);
  for (const double sigma_y : {0.02, 0.1}) {
    const Tensor x = (6 * smooth_images(1, 3, 64, rng)).clamp(-1, 1);
    Problem problem = observe(identity(), x, scalar(sigma_y), rng);
    problem.y = (problem.y * 127.5).round().div(127.5).clamp(-1, 1);
    EXPECT_FALSE(test_residuals(problem, x).any_found()) << sigma_y;
    problem.y[0][0][0][0] = 1.2;  // not clipped, as it seems: all entries count
    EXPECT_TRUE(test_residuals(problem, x).any_found()) << sigma_y;
  }
}

TEST(ResidualTests, FindWhatEachIsFor) {
  Rng rng(9);
  const Tensor x = smooth_images(1, 3, 64, rng), n = rng.normal({1, 3, 64, 64});
  const Operator A = circular_blur(gaussian_kernel(1, 9).unsqueeze(0), 64, 64);
  const double sigma_y = 0.05;
  const auto found = [&](const std::string& name, const Tensor& y) {
    const Problem problem{.A = A, .y = y, .sigma_y = scalar(sigma_y)};
    return test_residuals(problem, x, {.border = Border::circular}).found(name);
  };
  const Tensor right = A->apply(x) + sigma_y * n;
  for (const char* name : {"neighbours_0_1",
                           "channels",
                           "border",
                           "edges",
                           "brightness",
                           "shift_x",
                           "shift_y",
                           "sharpness",
                           "width",
                           "replicated"})
    EXPECT_FALSE(found(name, right)) << name;
  const Tensor white = sigma_y * n;
  EXPECT_TRUE(found("neighbours_0_1", right + 0.5 * at::roll(white, 1, 3)));
  EXPECT_TRUE(found("neighbours_2_0", right + 0.5 * at::roll(white, 2, 2)));
  EXPECT_TRUE(found("neighbours_1_-1", right + 0.5 * at::roll(white, {1, -1}, {2, 3})));
  EXPECT_TRUE(found("channels", right + 0.5 * at::roll(white, 1, 1)));
  EXPECT_TRUE(found("brightness", 1.2 * A->apply(x) + white));
  EXPECT_TRUE(found("shift_x", A->apply(at::roll(x, 1, 3)) + white));
  EXPECT_TRUE(found("shift_y", A->apply(at::roll(x, 1, 2)) + white));
  EXPECT_TRUE(found("width", x + white));
  Tensor at_border = right.clone();
  at_border.narrow(3, 0, 4).add_(2 * white.narrow(3, 0, 4));
  EXPECT_TRUE(found("border", at_border));
}

// The blur with a replicated border, pixel by pixel.
TEST(ResidualTests, KnowTheBlurWithAReplicatedBorder) {
  Rng rng(10);
  const int64_t side = 24;
  const Tensor kernel = rng.uniform({5, 4}).div(10), x = smooth_images(1, 1, side, rng);
  Tensor y = at::zeros_like(x);
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j)
      for (int64_t a = 0; a < 5; ++a)
        for (int64_t b = 0; b < 4; ++b)
          y[0][0][i][j] += kernel[a][b] * x[0][0][std::clamp<int64_t>(i - a + 2, 0, side - 1)]
                                           [std::clamp<int64_t>(j - b + 2, 0, side - 1)];
  const Operator A = circular_blur(kernel.unsqueeze(0), side, side);
  const Problem problem{.A = A, .y = y, .sigma_y = scalar(1e-3)};
  const ResidualTests tests = test_residuals(problem, x, {.border = Border::circular});
  // The residual is the direction itself: a correlation of 1.
  ASSERT_NE(tests.find("replicated"), nullptr);
  EXPECT_NEAR(tests.find("replicated")->size, 1, 1e-12);
}

// A blur that is not circular, declared with another kernel or border.
TEST(ResidualTests, FindWidthAndBorderOfAnyBlur) {
  Rng rng(12);
  const Tensor x = smooth_images(1, 3, 64, rng);
  const auto tests = [&](double made, Border border, Border declared) {
    const auto with = [&](double std, Border b) {
      return blur(gaussian_kernel(std, 9).unsqueeze(0), 64, 64, b);
    };
    Problem problem = observe(with(made, border), x, scalar(0.02), rng);
    problem.A = with(1.5, declared);
    return test_residuals(problem, x, {.border = declared});
  };
  for (const Border border :
       {Border::valid, Border::reflect101, Border::replicate, Border::zero, Border::circular}) {
    EXPECT_FALSE(tests(1.5, border, border).any_found()) << to_string(border);
    const ResidualTests wide = tests(1.0, border, border), narrow = tests(2.2, border, border);
    ASSERT_TRUE(wide.found("width") && narrow.found("width")) << to_string(border);
    EXPECT_GT(wide.find("width")->z, 0);
    EXPECT_LT(narrow.find("width")->z, 0);
  }
  EXPECT_TRUE(tests(1.5, Border::replicate, Border::zero).found("replicated"));
  EXPECT_TRUE(tests(1.5, Border::circular, Border::replicate).found("wrapped"));
}

TEST(ResidualTests, BoundTheChanceOfAnyFalseAlarm) {
  ResidualTests tests;
  for (int k = 0; k < 10; ++k) tests.statistics.push_back({"s" + std::to_string(k), 0, 1});
  // P(|n| > 5) = 5.733e-7 for n ~ N(0, 1).
  tests.statistics[0] = {"s0", -5, -1};
  EXPECT_NEAR(tests.p_value(tests.statistics[0]), 5.733e-6, 1e-9);
  EXPECT_EQ(tests.p_value(tests.statistics[1]), 1);
  EXPECT_TRUE(tests.found("s0") && !tests.found("s1") && !tests.found("none"));
  EXPECT_EQ(tests.largest(), 5);
  tests.statistics[0] = {"channels", -5, -1};         // no structure of an image
  tests.statistics[1] = {"neighbours_0_1", 5, 0.01};  // beyond chance, but a network's
  EXPECT_FALSE(tests.any_found());
}

TEST(ResidualTests, AreNoneWhereTooLittleIsMeasured) {
  Rng rng(11);
  const Tensor x = smooth_images(1, 3, 16, rng);
  EXPECT_TRUE(test_residuals(observe(average_pool(4), x, scalar(0.1), rng), x).statistics.empty());
  EXPECT_TRUE(
      test_residuals(
          observe(subsampled_fourier(at::ones({1, 16, 16}, at::kDouble)), x, scalar(0.1), rng), x)
          .statistics.empty());
}

}  // namespace
}  // namespace eps
