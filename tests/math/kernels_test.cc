// The CPU's single-pass kernels against the same maps by tensor operations.
#include "eps/math/kernels/kernels.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "eps/operators/factories.h"

namespace eps {
namespace {

// What LinearOperator promises of proximal(), from apply and ridge.
Tensor by_definition(const Operator& A, const Tensor& z, const Tensor& y, const Tensor& lambda) {
  return z + A->ridge(y - A->apply(z), lambda);
}

// A float64 kernel agrees to rounding, float32 to its own; per image and shared lambda, and lambda
// 0.
void expect_agreement(const Operator& A, const Shape& image) {
  Rng rng(2);
  const Tensor z = rng.normal(image), y = A->apply(rng.normal(image));
  const Tensor per_image = (1 + at::arange(image[0], at::kDouble)).reshape({-1, 1, 1, 1});
  for (const Tensor& lambda : {scalar(0.3), scalar(1e-4), scalar(0), per_image}) {
    const Tensor wanted = by_definition(A, z, y, lambda);
    const double size = wanted.abs().max().item<double>();
    EXPECT_TRUE(kernels::plain(z, y, lambda, A->format().batch()));
    EXPECT_LT((A->proximal(z, y, lambda) - wanted).abs().max().item<double>(), 1e-11 * size)
        << to_string(image);
    if (lambda.dim() == 0 && lambda.item<double>() == 0) continue;  // float32 cannot invert a blur
    const Tensor single = A->proximal(z.to(at::kFloat), y.to(at::kFloat), lambda);
    EXPECT_EQ(single.scalar_type(), at::kFloat);
    EXPECT_LT((single - wanted).abs().max().item<double>(), 2e-4 * size) << to_string(image);
  }
}

TEST(Kernels, MaskProximalIsTheDefinition) {
  for (const Shape& image : {Shape{1, 3, 5, 7}, Shape{4, 1, 16, 9}, Shape{3, 2, 64, 64}}) {
    expect_agreement(inpainting(Rng(1).uniform({image[0], 1, image[2], image[3]}) < 0.4), image);
    expect_agreement(inpainting(Rng(1).uniform({1, 1, image[2], image[3]}) < 0.4), image);
  }
}

TEST(Kernels, PoolProximalIsTheDefinition) {
  for (const int64_t s : {1, 2, 3, 4, 5, 8, 16})
    expect_agreement(average_pool(s), {3, 2, 2 * s, 3 * s});
}

TEST(Kernels, CircularProximalIsTheDefinition) {
  for (const auto& [h, w] : std::vector<std::pair<int64_t, int64_t>>{
           {16, 16}, {16, 32}, {32, 64}, {64, 16}, {128, 256}}) {
    ASSERT_TRUE(kernels::CircularProximal::supports(h, w));
    const int64_t kh = std::min<int64_t>(h, 5), kw = std::min<int64_t>(w, 4);
    // A dominant centre keeps the blur well-conditioned, so that lambda = 0 can be compared too.
    Tensor kernels = Rng(1).uniform({2, kh, kw}) / static_cast<double>(kh * kw);
    kernels.select(2, kw / 2).select(1, kh / 2).add_(2);
    expect_agreement(circular_blur(kernels, h, w), {2, 3, h, w});
    expect_agreement(circular_blur(kernels.slice(0, 0, 1), h, w), {2, 1, h, w});
  }
  EXPECT_FALSE(kernels::CircularProximal::supports(12, 16));
  EXPECT_FALSE(kernels::CircularProximal::supports(16, 8));
}

// Frequencies that the kernel removes keep z: a box of 2 on an even width has a zero at the last
// one.
TEST(Kernels, CircularProximalLeavesWhatIsNotMeasured) {
  const Operator A = circular_blur(at::full({1, 1, 2}, 0.5, at::kDouble), 16, 16);
  const Tensor alternating =
      (1 - 2 * at::remainder(at::arange(16, at::kDouble), 2)).expand({1, 1, 16, 16}).contiguous();
  for (const double lambda : {0.0, 0.1}) {
    const Tensor mu = A->proximal(alternating, at::zeros_like(alternating), scalar(lambda));
    EXPECT_LT((mu - alternating).abs().max().item<double>(), 1e-12);
  }
}

// As lambda grows without bound, z is believed: no inf/inf, in either precision.
TEST(Kernels, HugeLambdasKeepZ) {
  const Tensor z = Rng(3).normal({1, 1, 16, 16}), y = Rng(4).normal({1, 1, 16, 16});
  const Operator A = circular_blur(gaussian_kernel(1, 5).unsqueeze(0), 16, 16);
  for (const double lambda : {1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(A->proximal(z, y, scalar(lambda)).allclose(z, 1e-12, 1e-12)) << lambda;
    const Tensor single = A->proximal(z.to(at::kFloat), y.to(at::kFloat), scalar(lambda));
    EXPECT_TRUE(single.allclose(z.to(at::kFloat), 1e-5, 1e-5)) << lambda;
  }
}

TEST(Kernels, OtherTensorsTakeTheGeneralWay) {
  Rng rng(3);
  const Tensor z = rng.normal({1, 2, 16, 16}), y = rng.normal({1, 2, 16, 16});
  EXPECT_FALSE(kernels::plain(z.transpose(2, 3), y, scalar(1), 1));
  EXPECT_FALSE(kernels::plain(z, y.to(at::kFloat), scalar(1), 1));
  EXPECT_FALSE(kernels::plain(z.expand({3, 2, 16, 16}).contiguous(), y, scalar(1), 1));
  EXPECT_FALSE(kernels::plain(z, y, scalar(1), 2));
  EXPECT_FALSE(kernels::plain(z, y, at::ones({2, 1, 1, 1}, at::kDouble), 1));
  EXPECT_FALSE(kernels::plain(z, y, scalar(1).requires_grad_(), 1));
  const Operator A = circular_blur(gaussian_kernel(1, 5).unsqueeze(0), 16, 16);
  const Tensor strided = A->proximal(z.transpose(2, 3), y, scalar(0.1));
  EXPECT_TRUE(
      strided.allclose(A->proximal(z.transpose(2, 3).contiguous(), y, scalar(0.1)), 1e-10, 1e-12));
}

}  // namespace
}  // namespace eps
