// Soft masks: weights as noise levels, from files and at random.
#include <gtest/gtest.h>

#include <numbers>

#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "tests/files.h"

namespace eps {
namespace {

// A Gaussian prior N(0, 1/lambda) per pixel and y = x + sigma n / w: the posterior mean is
// w^2 y / (w^2 + lambda sigma^2). The user's y is whitened first.
TEST(SoftMask, AWeightDividesTheNoiseOfItsPixel) {
  const Folder folder;
  const Tensor weights = at::tensor({1.0, 0.5, 0.25, 0.0}, at::kDouble).reshape({2, 2});
  write_array(folder.file("w.npy"), weights);
  const std::string spec = "soft_mask:file=" + folder.file("w.npy");
  Rng rng(1);
  const Tensor y = rng.normal({1, 3, 2, 2});
  const double lambda_sigma_squared = 0.3;
  const Operator A = make_operator(spec, y, rng);
  const Tensor mean = A->ridge(whitened(spec, y), scalar(lambda_sigma_squared));
  const Tensor square = weights.square();
  EXPECT_TRUE(mean.allclose(square * y / (square + lambda_sigma_squared), 1e-12, 1e-14));
}

TEST(SoftMask, OnesAndZerosAreAMask) {
  const Tensor mask = (Rng(2).uniform({1, 1, 6, 5}) < 0.5).to(at::kDouble);
  const Tensor z = Rng(3).normal({2, 3, 6, 5}), y = Rng(4).normal({2, 3, 6, 5});
  const Tensor soft = soft_mask(mask)->proximal(z, y, scalar(0.1));
  EXPECT_TRUE(soft.allclose(inpainting(mask)->proximal(z, y, scalar(0.1))));
  EXPECT_TRUE(soft_mask(mask)->format().measured(y).equal(y * mask));
}

TEST(SoftMask, GreyLevelsOfAPictureAreWeights) {
  const Folder folder;
  write_png(folder.file("w.png"), at::tensor({0, 51, 204, 255}, at::kByte).reshape({2, 2}));
  Rng rng(1);
  const Operator A =
      make_operator("soft_mask:file=" + folder.file("w.png"), at::empty({1, 1, 2, 2}), rng);
  const Tensor wanted = at::tensor({0.0, 0.2, 0.8, 1.0}, at::kDouble).reshape({1, 2, 2});
  EXPECT_TRUE(A->format().parameters().at("weights").allclose(wanted));
}

TEST(SoftMask, RefusesOtherWeights) {
  const Folder folder;
  Rng rng(1);
  const auto refusal = [&](const Tensor& weights) {
    write_array(folder.file("w.npy"), weights);
    return error_of([&] {
      make_operator("soft_mask:file=" + folder.file("w.npy"), at::empty({1, 1, 2, 2}), rng);
    });
  };
  EXPECT_EQ(refusal(at::full({2, 2}, 1.5)),
            folder.file("w.npy") + ": weights are in [0, 1], found 1.5");
  EXPECT_EQ(refusal(at::ones({2, 3})),
            folder.file("w.npy") +
                ": the mask of weights has 3 x 2 pixels (width x height), the image 2 x 2");
  EXPECT_NE(refusal(at::full({2, 2}, NAN)).find("not finite"), std::string::npos);
}

// A chain is whitened by its last operator; a stack has no common noise.
TEST(SoftMask, WhitensBehindAnotherOperatorButNotBesideOne) {
  const Folder folder;
  write_array(folder.file("w.npy"), at::full({2, 2}, 0.5));
  const std::string soft = "soft_mask:file=" + folder.file("w.npy");
  const Tensor y = at::ones({1, 1, 2, 2}, at::kDouble);
  EXPECT_TRUE(whitened("super_resolution:factor=2 | " + soft, y).equal(y / 2));
  EXPECT_TRUE(whitened("inpaint_random", y).equal(y));
  EXPECT_NE(error_of([&] { whitened("identity + " + soft, y); }).find("stacked"),
            std::string::npos);
}

// The weights are uniform above the missing part, in every pixel: the mean of (u - m)+ / (1 - m) is
// (1 - m)/2. Neighbours are alike, so the standard error counts images only.
TEST(SoftMask, RandomWeightsMissTheStatedFractionAndAreSmooth) {
  const int64_t images = 400;
  Rng rng(1, images);
  const Operator A = make_operator(
      "soft_mask:smooth=3,missing=0.25", at::empty({images, 1, 32, 32}, at::kDouble), rng);
  const Tensor weights = A->format().parameters().at("weights");
  const auto expect_mean = [&](const Tensor& values, double wanted) {
    const Tensor each = values.to(at::kDouble).mean({1, 2});
    const double error = each.std().item<double>() / std::sqrt(static_cast<double>(images));
    EXPECT_NEAR(each.mean().item<double>(), wanted, 5 * error);
  };
  expect_mean(weights == 0, 0.25);
  expect_mean(weights, 0.75 / 2);
  EXPECT_GE(weights.min().item<double>(), 0);
  EXPECT_LE(weights.max().item<double>(), 1);
  // A field blurred by s = 3 has the correlation exp(-1 / (4 s^2)) with its neighbour: its steps
  // have the mean square 2 (1 - exp(-1/36)), and the distribution function has a slope of at most
  // 1 / sqrt(2 pi), divided by 1 - missing.
  const double bound = 2 * (1 - std::exp(-1 / 36.0)) / (2 * std::numbers::pi) / 0.5625;
  EXPECT_LT(at::diff(weights, 1, 2).square().mean().item<double>(), bound);
}

}  // namespace
}  // namespace eps
