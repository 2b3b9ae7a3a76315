// The estimate of an image that knows that neighbours are alike.
#include "eps/math/pyramid.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"

namespace eps {
namespace {

constexpr double kUnknown = 1e12;  // the variance of a pixel of which nothing is known

// The variances of the tree: details from pixels to blocks of 16 x 16 and the top's add up along
// the way from one pixel to the top, beyond which the opposite corner of a block of 32 x 32 shares
// nothing with it. So the corner's estimate is the top's, a posterior mean in closed form.
TEST(PyramidEstimate, OfTheOppositeCornerIsThePosteriorMeanOfTheTop) {
  constexpr double kAllDetail = 0.009 + 0.012 + 0.015 + 0.018 + 0.024, kTop = 0.15, kNoise = 0.02;
  Tensor x = at::zeros({1, 1, 32, 32}, at::kDouble), variance = at::full_like(x, kUnknown);
  x[0][0][0][0] = 0.7;
  variance[0][0][0][0] = kNoise;
  const Tensor estimate = pyramid_estimate(x, variance);
  EXPECT_NEAR(
      estimate[0][0][31][31].item<double>(), 0.7 * kTop / (kTop + kAllDetail + kNoise), 1e-9);
}

TEST(PyramidEstimate, OfPixelsWithoutNoiseIsTheImage) {
  for (const Shape& shape : {Shape{2, 3, 64, 32}, Shape{1, 1, 37, 50}, Shape{1, 3, 1, 5}}) {
    const Tensor x = Rng(1).normal(shape, at::kFloat);
    const Tensor estimate = pyramid_estimate(x, at::full({}, 1e-10));
    EXPECT_EQ(estimate.scalar_type(), at::kFloat);
    EXPECT_LT(((estimate - x).norm() / x.norm()).item<double>(), 1e-5) << to_string(shape);
  }
}

// Under noise far above the prior's variance nothing is known but the prior's mean, 0; the mean of
// 1,024 pixels has less noise than one by their number, so that a constant comes through.
TEST(PyramidEstimate, WeighsNoiseAgainstWhatNeighboursShare) {
  const Tensor noise = Rng(2).normal({64, 1, 32, 32});
  const auto error = [&](double deviation) {
    const Tensor x = 0.5 + deviation * noise;
    return (pyramid_estimate(x, at::full({}, deviation * deviation)) - 0.5).square().mean().sqrt();
  };
  EXPECT_LT(error(0.3).item<double>(), 0.1);
  EXPECT_NEAR(error(100).item<double>(), 0.5, 0.05);
}

TEST(PyramidEstimate, FillsHolesOfASlopeFromAroundThem) {
  const Tensor x = at::linspace(-0.5, 0.5, 64, at::kDouble).expand({1, 1, 64, 64});
  const Tensor measured = Rng(3).uniform({1, 1, 64, 64}) < 0.5;
  const Tensor variance = at::where(measured, at::full_like(x, 1e-4), at::full_like(x, kUnknown));
  const Tensor error = (pyramid_estimate(at::where(measured, x, x * 0 + 9), variance) - x).abs();
  EXPECT_LT(error.masked_select(measured.logical_not()).max().item<double>(), 0.1);
}

// So windows around holes have the estimate of the picture: those on the grid of blocks, as far as
// the radius from where they were cut.
TEST(PyramidEstimate, IsThatOfAnAlignedWindow) {
  const Tensor x = Rng(4).normal({1, 2, 320, 288});
  const Tensor variance = Rng(5).uniform({1, 1, 320, 288}).square() + 1e-4;
  const auto window = [](const Tensor& image) { return image.slice(2, 32, 300).slice(3, 64, 288); };
  const auto inside = [](const Tensor& image) {
    return image.slice(2, kPyramidRadius, 268 - kPyramidRadius).slice(3, kPyramidRadius);
  };
  const Tensor whole = window(pyramid_estimate(x, variance));
  const Tensor part = pyramid_estimate(window(x), window(variance));
  EXPECT_EQ((inside(whole) - inside(part)).abs().max().item<double>(), 0);
  EXPECT_GT((whole - part).abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace eps
