// Independence of images, operators and noise at the default seeds, which are all 0.
#include "eps/base/streams.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/experiment/protocol.h"
#include "eps/priors/exact_data.h"

namespace eps::experiment {
namespace {

constexpr double kSigmaY = 0.05;

// The measurement noise of each image, in units of sigma_y.
Tensor unit_noise(const Tensor& x0) {
  const Images images{x0};
  const auto problems = make_problems(
      {.task = "identity", .sigma_y = kSigmaY, .batch = x0.size(0)}, images, at::kCPU);
  return (problems.front().y - x0) / kSigmaY;
}

// Given the images, sum(noise x0) is Gaussian with the variance sum(x0^2).
TEST(Streams, MeasurementNoiseIsIndependentOfAStationaryImage) {
  const Tensor x0 = draw_exact_data("exact:prior=stationary,size=16", 8).images;
  const double score = ((unit_noise(x0) * x0).sum() / x0.norm()).item<double>();
  EXPECT_LT(std::abs(score), 5);
}

// The components of the mixture lie far apart along the first principal axis of the images. The
// squared radius of the first two noise numbers has the mean 2 and the variance 4, whatever the
// component.
TEST(Streams, MeasurementNoiseIsIndependentOfTheMixturesComponent) {
  const Tensor x0 = draw_exact_data("exact:prior=mixture,size=4", 400).images;
  const Tensor flat = x0.flatten(1), centred = flat - flat.mean(0);
  const Tensor axis = std::get<1>(at::linalg_eigh(at::matmul(centred.t(), centred))).select(1, -1);
  const Tensor place = at::mv(centred, axis);
  const Tensor first = (place < (place.min() + place.max()) / 2).to(at::kDouble);
  const Tensor radius = unit_noise(x0).flatten(1).slice(1, 0, 2).square().sum(1);
  const Tensor n1 = first.sum(), n2 = (1 - first).sum();
  ASSERT_GT(at::minimum(n1, n2).item<double>(), 50);
  const Tensor difference = (radius * first).sum() / n1 - (radius * (1 - first)).sum() / n2;
  EXPECT_LT((difference / (4 / n1 + 4 / n2).sqrt()).abs().item<double>(), 5);
}

// A random mask of an image and the noise on it: half of the pixels are kept, by numbers of their
// own. Given the noise, sum(noise (mask - 1/2)) has the variance sum(noise^2) / 4.
TEST(Streams, MeasurementNoiseIsIndependentOfTheOperator) {
  const Images images{at::zeros({8, 1, 16, 16}, at::kDouble)};
  const Protocol protocol{.task = "inpaint_random:missing=0.5", .batch = 8};
  const auto problems = make_problems(protocol, images, at::kCPU);
  const Tensor mask = problems.front().A->format().parameters().at("mask").reshape({8, 1, 16, 16});
  const Tensor noise = unit_noise(images.x0);
  const Tensor score = (noise * (mask - mask.mean())).sum() / (noise.norm() / 2);
  EXPECT_LT(score.abs().item<double>(), 5);
}

}  // namespace
}  // namespace eps::experiment
