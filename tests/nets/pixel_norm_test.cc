// The norm over the channels of each pixel against its formula in float64.
#include "eps/nets/pixel_norm.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "eps/nets/pixel_loops.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

// Levels of pixels up to 100 times those of others.
Tensor random_pixels(const Shape& shape, at::ScalarType type) {
  const Tensor levels = (Rng(2).normal({shape[0], 1, shape[2], shape[3]}) * 2).exp();
  return (Rng(1).normal(shape) * levels).to(type).contiguous(at::MemoryFormat::ChannelsLast);
}

// Values and gradients for the gradient dy of the output.
struct NormAnswer {
  Tensor y, dx, dslope, dintercept;
};

template <class Norm>
NormAnswer norm_answer_of(
    const Norm& norm, Tensor x, Tensor slope, Tensor intercept, const Tensor& dy) {
  x = x.detach().requires_grad_();
  slope = slope.detach().requires_grad_();
  intercept = intercept.detach().requires_grad_();
  const Tensor y = norm(x, slope, intercept);
  y.backward(dy.to(y.scalar_type()));
  return {y.detach(), x.grad(), slope.grad(), intercept.grad()};
}

// Widths that do and do not fill whole vectors, tables for all images and for each.
TEST(PixelNorm, IsItsFormulaWithGradients) {
  constexpr double kEps = 1e-3;
  for (const Shape& shape :
       {Shape{2, 32, 8, 8}, {3, 20, 5, 7}, {1, 6, 1, 1}, {2, 144, 16, 16}, {1, 48, 3, 50}})
    for (const int64_t rows : {int64_t{1}, shape[0]})
      for (const bool silu : {false, true})
        for (const auto& [type, bound] : {std::pair{at::kFloat, 1e-5}, {at::kBFloat16, 6e-3}}) {
          const Tensor x = random_pixels(shape, type);
          const Tensor slope = Rng(3).normal({rows, shape[1]}, at::kFloat);
          const Tensor intercept = Rng(4).normal({rows, shape[1]}, at::kFloat);
          const Tensor dy = Rng(5).normal(shape).to(type);
          const NormAnswer fused = norm_answer_of(
              [&](const Tensor& x, const Tensor& slope, const Tensor& intercept) {
                return pixel_norm(x, slope, intercept, kEps, silu);
              },
              x,
              slope,
              intercept,
              dy);
          const NormAnswer exact = norm_answer_of(
              [&](const Tensor& x, const Tensor& slope, const Tensor& intercept) {
                const auto table = [](const Tensor& t) { return t.unsqueeze(2).unsqueeze(3); };
                const Tensor h =
                    x / (x.square().mean(1, true) + kEps).sqrt() * table(slope) + table(intercept);
                return silu ? at::silu(h) : h;
              },
              x.to(at::kDouble),
              slope.to(at::kDouble),
              intercept.to(at::kDouble),
              dy.to(at::kDouble));
          const std::string where = to_string(shape) + (silu ? " silu" : "");
          EXPECT_LT(relative_error(fused.y, exact.y), bound) << where;
          EXPECT_LT(relative_error(fused.dx, exact.dx), bound) << where;
          EXPECT_LT(relative_error(fused.dslope, exact.dslope), bound) << where;
          EXPECT_LT(relative_error(fused.dintercept, exact.dintercept), bound) << where;
        }
}

TEST(PixelNorm, DoesNotDependOnTheBatchOrTheThreads) {
  const Tensor x = random_pixels({3, 32, 40, 40}, at::kFloat);
  const Tensor slope = Rng(3).normal({3, 32}, at::kFloat), intercept = slope.flip(1);
  const Tensor dy = Rng(5).normal({3, 32, 40, 40}, at::kFloat);
  const auto norm = [](const Tensor& x, const Tensor& slope, const Tensor& intercept) {
    return pixel_norm(x, slope, intercept, 1e-5, true);
  };
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const NormAnswer one = norm_answer_of(norm, x, slope, intercept, dy);
  at::set_num_threads(2);
  const NormAnswer two = norm_answer_of(norm, x, slope, intercept, dy);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.y.equal(two.y));
  EXPECT_TRUE(one.dx.equal(two.dx));
  EXPECT_TRUE(one.dslope.equal(two.dslope));
  EXPECT_TRUE(one.dintercept.equal(two.dintercept));
  const auto second = [](const Tensor& t) { return t.slice(0, 1, 2); };
  const NormAnswer alone =
      norm_answer_of(norm, second(x), second(slope), second(intercept), second(dy));
  EXPECT_TRUE(alone.y.equal(second(one.y)));
  EXPECT_TRUE(alone.dx.equal(second(one.dx)));
  EXPECT_TRUE(alone.dslope.equal(second(one.dslope)));
}

// Rounding of c10, which is to the nearest, for numbers of any size.
TEST(PixelNorm, LoopsRoundAsLibtorchDoes) {
  for (const float value : {1.0f, 1.00390625f, -3.01171875f, 1e-40f, 3.4e38f, -0.0f, 1e30f}) {
    c10::BFloat16 rounded;
    pixel_loops::store(value, rounded);
    EXPECT_EQ(rounded.x, c10::BFloat16(value).x) << value;
    EXPECT_EQ(pixel_loops::load(rounded), static_cast<float>(c10::BFloat16(value))) << value;
  }
  c10::BFloat16 none;
  pixel_loops::store(std::nanf(""), none);
  EXPECT_TRUE(std::isnan(pixel_loops::load(none)));
}

// Both ways of compiling the loops, whichever this machine would choose.
TEST(PixelNorm, GradientsAgreeOnEveryMachine) {
  if (!pixel_loops::wide_vectors()) GTEST_SKIP() << "this machine has only one way";
  const Tensor x = random_pixels({1, 20, 3, 5}, at::kFloat), dy = x.flip(2).contiguous();
  const Tensor line = Rng(5).normal({2, 20}, at::kFloat);
  const auto gradients = [&](const pixel_loops::Loops<float>& loops) {
    const Tensor dx = at::empty({300}), sums = at::zeros({2, 20}), scratch = at::empty({40});
    loops.activated_norm_gradients({x.data_ptr<float>(), 15, 20},
                                   {dy.data_ptr<float>(),
                                    line.data_ptr<float>(),
                                    1e-6f,
                                    dx.data_ptr<float>(),
                                    sums.data_ptr<float>(),
                                    scratch.data_ptr<float>()});
    return std::pair{dx, sums};
  };
  const auto [dx, sums] = gradients(pixel_loops::any_machine<float>());
  const auto [wide_dx, wide_sums] = gradients(pixel_loops::wide_machine<float>());
  EXPECT_LT(relative_error(wide_dx, dx), 1e-5);
  EXPECT_LT(relative_error(wide_sums, sums), 1e-5);
}

}  // namespace
}  // namespace eps::nets
