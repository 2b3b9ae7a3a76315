// The known behaviour of each kind of operator.
#include <gtest/gtest.h>

#include <numbers>

#include "eps/io/array.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "tests/files.h"

namespace eps {
namespace {

Tensor ramp(const Shape& shape) {
  return at::arange(c10::multiply_integers(shape), at::kDouble).reshape(shape);
}

TEST(Inpainting, RandomMasksMissTheStatedFraction) {
  Rng rng(1, 4);
  const Operator A = make_operator("inpaint_random:missing=0.7", at::empty({4, 3, 64, 64}), rng);
  const Tensor mask = A->format().parameters().at("mask");
  EXPECT_EQ(mask.sizes(), at::IntArrayRef({4, 64, 64}));
  // n = 16384 Bernoulli pixels: 5 standard errors.
  EXPECT_NEAR(mask.mean().item<double>(), 0.3, 5 * std::sqrt(0.21 / 16384));
  EXPECT_FALSE(mask[0].equal(mask[1]));
}

TEST(Inpainting, TrainingDrawsVaryTheFractionByImage) {
  Rng rng(1, 200);
  const Operator A =
      make_operator(find_task("random_inpainting").train, at::empty({200, 1, 32, 32}), rng);
  const Tensor missing = 1 - A->format().parameters().at("mask").mean({1, 2});
  EXPECT_GT(missing.min().item<double>(), 0.5 - 5 * std::sqrt(0.25 / 1024));
  EXPECT_LT(missing.max().item<double>(), 0.7 + 5 * std::sqrt(0.25 / 1024));
  EXPECT_NEAR(
      missing.mean().item<double>(), 0.6, 5 * std::sqrt(0.04 / 12 / 200 + 0.25 / 1024 / 200));
}

TEST(Inpainting, BoxesLieWhereTheyAreSaidTo) {
  Rng rng(1);
  const Operator A =
      make_operator("inpaint_box:height=2,width=3,top=1,left=4", at::empty({1, 1, 8, 8}), rng);
  const Tensor hole = 1 - A->format().parameters().at("mask")[0];
  EXPECT_EQ(hole.sum().item<double>(), 6);
  EXPECT_EQ(hole.slice(0, 1, 3).slice(1, 4, 7).sum().item<double>(), 6);
  const Operator centred =
      make_operator("inpaint_box:height=4,width=2", at::empty({1, 1, 8, 8}), rng);
  EXPECT_EQ((1 - centred->format().parameters().at("mask")[0])
                .slice(0, 2, 6)
                .slice(1, 3, 5)
                .sum()
                .item<double>(),
            8);
}

TEST(Inpainting, TrainingBoxesKeepTheirMargins) {
  Rng rng(1, 500);
  const Operator A =
      make_operator(find_task("box_inpainting").train, at::empty({500, 1, 64, 64}), rng);
  const Tensor hole = 1 - A->format().parameters().at("mask");
  EXPECT_EQ(hole.slice(1, 0, 4).sum().item<double>() + hole.slice(1, 60).sum().item<double>(), 0);
  EXPECT_EQ(hole.slice(2, 0, 4).sum().item<double>() + hole.slice(2, 60).sum().item<double>(), 0);
  const Tensor height = hole.amax(2).sum(1);
  EXPECT_EQ(height.min().item<double>(), 16);
  EXPECT_EQ(height.max().item<double>(), 32);
}

TEST(Pooling, AveragesBlocks) {
  const Tensor y = average_pool(2)->apply(ramp({1, 1, 2, 4}));
  EXPECT_TRUE(y.equal(at::tensor({2.5, 4.5}, at::kDouble).reshape({1, 1, 1, 2})));
  EXPECT_TRUE(average_pool(2)->ridge(y, scalar(0)).equal(average_pool(2)->format().picture(y)));
}

// One pixel is left, and its picture shares memory: x = z + (y - mean(z)) / (1 + s^2 lambda).
TEST(Pooling, OfTheWholeImageHasAProximalStep) {
  Rng rng(3);
  const Tensor z = rng.normal({2, 3, 8, 8}), y = rng.normal({2, 3, 1, 1});
  const Tensor lambda = at::tensor({0.5, 2.0}, at::kDouble).view({2, 1, 1, 1});
  const Tensor expected = z + (y - z.mean({2, 3}, true)) / (1 + 64 * lambda);
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const Tensor x = average_pool(8)->proximal(z.to(dtype), y.to(dtype), lambda);
    EXPECT_TRUE(at::allclose(x.to(at::kDouble), expected, 0, dtype == at::kBFloat16 ? 0.1 : 1e-5));
  }
}

// A true convolution with the origin at index size/2, by the sum that defines it.
TEST(Blur, IsTheCircularConvolutionWithItsOriginAtHalfTheSize) {
  for (const Shape& size : {Shape{3, 3}, Shape{4, 5}, Shape{2, 1}}) {
    const Tensor kernel = Rng(2).uniform({1, size[0], size[1]});
    const Tensor x = Rng(3).normal({1, 1, 6, 7});
    const Tensor y = circular_blur(kernel, 6, 7)->apply(x);
    Tensor wanted = at::zeros_like(x);
    for (int64_t r = 0; r < size[0]; ++r)
      for (int64_t c = 0; c < size[1]; ++c)
        wanted += kernel[0][r][c] * at::roll(x, {r - size[0] / 2, c - size[1] / 2}, {2, 3});
    EXPECT_LT((y - wanted).abs().max().item<double>(), 1e-12);
  }
}

TEST(Blur, GaussianKernelIsTheOneOfThePaper) {
  const Tensor kernel = gaussian_kernel(0.75, 11);
  EXPECT_NEAR(kernel.sum().item<double>(), 1, 1e-15);
  EXPECT_NEAR((kernel[5][6] / kernel[5][5]).item<double>(), std::exp(-0.5 / 0.5625), 1e-15);
  // Its transfer function at (pi, pi), the smallest, by Poisson summation: the two nearest aliases
  // in each direction give (2 exp(-pi^2 std^2 / 2))^2.
  const Tensor sign = 1 - 2 * at::remainder(at::arange(11, at::kDouble), 2);
  const double wanted = 4 * std::exp(-std::pow(std::numbers::pi * 0.75, 2));
  EXPECT_NEAR((kernel * at::outer(sign, sign)).sum().item<double>(), wanted, 1e-4 * wanted);
}

TEST(Blur, MotionKernelsAreLines) {
  const Tensor level = motion_kernel(5, 0);
  EXPECT_TRUE(level[2].allclose(at::full({5}, 0.2, at::kDouble)));
  EXPECT_NEAR(level.sum().item<double>(), 1, 1e-15);
  EXPECT_TRUE(motion_kernel(5, 90).allclose(level.t(), 1e-12, 1e-12));
  // Counter-clockwise: at 45 degrees the mass runs from bottom left to top right.
  const Tensor rising = motion_kernel(7, 45);
  EXPECT_GT(rising[2][4].item<double>(), 0.1);
  EXPECT_EQ(rising[2][2].item<double>(), 0);
  EXPECT_TRUE(motion_kernel(7, 225).allclose(rising, 1e-12, 1e-12));
}

TEST(Blur, TrainingDrawsUseTheFiveLengths) {
  Rng rng(1, 300);
  const Operator A =
      make_operator(find_task("motion_deblurring").train, at::empty({300, 1, 16, 16}), rng);
  const Tensor kernel = A->format().parameters().at("kernel");
  EXPECT_EQ(kernel.sizes(), at::IntArrayRef({300, 15, 15}));
  // L points one pixel apart have variance (L^2 - 1)/12 along the line; bilinear spreading adds a
  // little, never enough to reach the next odd L.
  const Tensor offset = at::arange(15, at::kDouble) - 7;
  const Tensor variance = (kernel * (offset.square() + offset.square().unsqueeze(1))).sum({1, 2});
  const Tensor length = 2 * ((12 * variance + 1).sqrt() / 2 - 0.5).round() + 1;
  EXPECT_TRUE(std::get<0>(at::_unique2(length))
                  .equal(at::tensor({7.0, 9.0, 11.0, 13.0, 15.0}, at::kDouble)));
}

TEST(Grey, TakesTheMeanOrLuma) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 3, 2, 2});
  EXPECT_TRUE(make_operator("grey", x, rng)->apply(x).allclose(x.mean(1, true)));
  const Tensor luma = 0.299 * x.select(1, 0) + 0.587 * x.select(1, 1) + 0.114 * x.select(1, 2);
  EXPECT_TRUE(make_operator("grey:weights=luma", x, rng)->apply(x).allclose(luma.unsqueeze(1)));
}

TEST(Fourier, KeepsTheCentralLinesAndTheStatedNumber) {
  Rng rng(1, 3);
  const Operator A =
      make_operator("fourier_lines:acceleration=4,center=0.125", at::empty({3, 1, 8, 32}), rng);
  const Tensor mask = A->format().parameters().at("mask");
  EXPECT_TRUE(mask.sum({1, 2}).eq(8 * 8).all().item<bool>());
  const Tensor central = at::cat({mask.slice(2, 0, 2), mask.slice(2, 31)}, 2);
  EXPECT_TRUE(central.eq(1).all().item<bool>());
}

TEST(Fourier, MeasuresTheUnitaryTransform) {
  const Tensor x = Rng(1).normal({1, 2, 6, 5});
  const Operator A = subsampled_fourier(at::ones({1, 6, 5}));
  EXPECT_NEAR(A->apply(x).norm().item<double>(), x.norm().item<double>(), 1e-12);
  EXPECT_NEAR(A->apply(at::ones_like(x))[0][0][0][0][0].item<double>(), std::sqrt(30.0), 1e-12);
}

TEST(Hadamard, IsTheOrthonormalTransform) {
  const Tensor ones = at::ones({1, 4, 8}, at::kDouble);
  const Operator A = subsampled_hadamard(ones, ones);
  const Tensor matrix =
      matrix_of([&](const Tensor& v) { return A->apply(v); }, {1, 1, 4, 8}, 1, at::kDouble)[0];
  EXPECT_TRUE(at::matmul(matrix, matrix).allclose(at::eye(32, at::kDouble)));
  EXPECT_TRUE(matrix.abs().allclose(at::full({32, 32}, 1 / std::sqrt(32.0), at::kDouble)));
}

TEST(Matrix, IsWhatTheFileHolds) {
  const Folder folder;
  Rng rng(1);
  const Tensor matrix = rng.normal({5, 12});
  write_array(folder.file("A.npy"), matrix);
  const Tensor x = rng.normal({2, 3, 2, 2});
  const Operator A = make_operator("matrix:file=" + (folder.file("A.npy")), x, rng);
  EXPECT_TRUE(A->apply(x).allclose(at::matmul(x.flatten(1), matrix.t())));
}

TEST(Compose, AppliesInOrderAndBlurThenPoolHasAClosedForm) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 3, 8, 8});
  const Operator chain =
      make_operator("blur_motion:length=3 | super_resolution:factor=2 | grey", x, rng);
  const Tensor wanted = average_pool(2)
                            ->apply(circular_blur(motion_kernel(3, 0).unsqueeze(0), 8, 8)->apply(x))
                            .mean(1, true);
  EXPECT_TRUE(chain->apply(x).allclose(wanted));
  EXPECT_TRUE(
      make_operator("blur_motion:length=3 | super_resolution:factor=2", x, rng)->spectral());
}

TEST(Stack, ConcatenatesMeasurements) {
  Rng rng(1);
  const Tensor x = rng.normal({2, 3, 8, 8});
  const Operator both = make_operator("super_resolution:factor=4 + grey", x, rng);
  EXPECT_TRUE(both->apply(x).equal(at::cat(
      {at::avg_pool2d(x, 4).flatten(1), make_operator("grey", x, rng)->apply(x).flatten(1)}, 1)));
}

TEST(Observe, AddsNoiseOnlyWhereSomethingIsMeasured) {
  Rng rng(1);
  const Operator A =
      inpainting(at::cat({at::zeros({1, 1, 50, 100}), at::ones({1, 1, 50, 100})}, 2));
  const Problem problem = observe(A, at::zeros({1, 1, 100, 100}, at::kDouble), scalar(0.05), rng);
  EXPECT_EQ(problem.y.slice(2, 0, 50).abs().max().item<double>(), 0);
  // 5000 numbers: 5 standard errors of a variance.
  EXPECT_NEAR(problem.y.slice(2, 50).square().mean().item<double>(),
              0.0025,
              0.0025 * 5 * std::sqrt(2.0 / 5000));
}

}  // namespace
}  // namespace eps
