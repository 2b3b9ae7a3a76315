// The fused kernels against the same formulas in float64.
#include "eps/nets/fused.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "eps/nets/pixel_loops.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

// Channels with means up to 100 deviations from 0, as deep layers have them.
Tensor random_image(const Shape& shape, at::ScalarType type) {
  const Tensor x = Rng(1).normal(shape) + Rng(2).normal({1, shape[1], 1, 1}) * 100;
  return x.to(type).contiguous(at::MemoryFormat::ChannelsLast);
}

Tensor separate_norm(const FusedNorm& norm, const Tensor& given) {
  const auto wide = [](const Tensor& tensor) { return tensor.to(at::kDouble); };
  const auto per_image = [&](const Tensor& table) { return wide(table).unsqueeze(2).unsqueeze(3); };
  Tensor x = wide(given);
  if (norm.offset.defined()) x = x + per_image(norm.offset);
  x = at::group_norm(x, norm.groups, wide(norm.weight), wide(norm.bias), norm.eps);
  if (norm.modulation.defined()) {
    const auto parts = per_image(norm.modulation).chunk(2, 1);
    x = x * (parts[0] + 1) + parts[1];
  }
  return norm.silu ? at::silu(x) : x;
}

// Widths that do and do not fill whole vectors, sizes that do and do not fill whole runs of pixels.
TEST(Fused, NormIsThatOfGroupsWithItsSurroundings) {
  Rng rng(3);
  for (const Shape& shape :
       {Shape{2, 32, 8, 8}, {3, 20, 5, 7}, {1, 6, 1, 1}, {2, 96, 16, 16}, {1, 128, 3, 50}}) {
    const int64_t n = shape[0], c = shape[1];
    for (const int64_t rows : {int64_t{1}, n}) {
      for (const bool silu : {false, true}) {
        FusedNorm norm{.groups = std::min<int64_t>(32, c / 4),
                       .eps = 1e-6,
                       .weight = rng.normal({c}, at::kFloat),
                       .bias = rng.normal({c}, at::kFloat),
                       .silu = silu};
        Rng per_row(4);
        const Tensor offset = per_row.normal({rows, c}, at::kFloat);
        const Tensor modulation = per_row.normal({rows, 2 * c}, at::kFloat);
        for (const auto& [before, after] : {std::pair{Tensor(), Tensor()},
                                            {offset, Tensor()},
                                            {Tensor(), modulation},
                                            {offset, modulation}}) {
          norm.offset = before;
          norm.modulation = after;
          for (const auto& [type, bound] : {std::pair{at::kFloat, 2e-5}, {at::kBFloat16, 4e-3}}) {
            const Tensor x = random_image(shape, type);
            ASSERT_TRUE(can_fuse(x));
            EXPECT_LT(relative_error(fused_norm(norm, x), separate_norm(norm, x)), bound)
                << to_string(shape) << " " << type << " silu " << silu;
          }
        }
      }
    }
  }
}

TEST(Fused, NormDoesNotDependOnTheBatchOrTheThreads) {
  const FusedNorm norm{
      .groups = 8, .eps = 1e-6, .weight = at::ones({32}), .bias = at::zeros({32}), .silu = true};
  const Tensor x = random_image({3, 32, 40, 40}, at::kFloat);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const Tensor one = fused_norm(norm, x);
  at::set_num_threads(2);
  const Tensor two = fused_norm(norm, x);
  at::set_num_threads(threads);
  EXPECT_TRUE(one.equal(two));
  EXPECT_TRUE(one.slice(0, 1, 2).equal(fused_norm(norm, x.slice(0, 1, 2))));
}

TEST(Fused, ResidualIsTheScaledSum) {
  for (const auto& [type, bound] : {std::pair{at::kFloat, 1e-7}, {at::kBFloat16, 4e-3}}) {
    const Tensor h = random_image({2, 12, 9, 7}, type);
    const Tensor x = h.flip(1).contiguous(at::MemoryFormat::ChannelsLast);
    const Tensor sum = (h.to(at::kDouble) + x.to(at::kDouble)) * std::sqrt(0.5);
    fused_residual(h, x, std::sqrt(0.5));
    EXPECT_LT(relative_error(h, sum), bound);
  }
}

TEST(Fused, SiluHoldsOverTheWholeRange) {
  for (float x = -120; x < 120; x += 0.37f) {
    const double exact = x / (1 + std::exp(-static_cast<double>(x)));
    EXPECT_NEAR(pixel_loops::silu(x), exact, 4e-7 * std::abs(exact) + 1e-35) << x;
  }
  EXPECT_EQ(pixel_loops::silu(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(pixel_loops::silu(std::nanf(""))));
}

// Both ways of compiling the loops, whichever this machine would choose.
TEST(Fused, LoopsAgreeOnEveryMachine) {
  if (!pixel_loops::wide_vectors()) GTEST_SKIP() << "this machine has only one way";
  const Tensor x = random_image({1, 20, 3, 5}, at::kFloat);
  const Tensor line = Rng(5).normal({2, 20}, at::kFloat);
  const pixel_loops::Pixels<float> in{x.data_ptr<float>(), 15, 20};
  const auto any = pixel_loops::any_machine<float>();
  const auto wide = pixel_loops::wide_machine<float>();
  std::vector<float> a(300), b(300);
  any.map_and_activate(in, line.data_ptr<float>(), a.data());
  wide.map_and_activate(in, line.data_ptr<float>(), b.data());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * std::abs(a[i]) + 1e-5);
  std::vector<float> s(40), t(40);
  any.norm_and_activate(in, line.data_ptr<float>(), 1e-6f, a.data());
  wide.norm_and_activate(in, line.data_ptr<float>(), 1e-6f, b.data());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5 * std::abs(a[i]) + 1e-5);
  any.add_moments(in, line.data_ptr<float>(), s.data());
  wide.add_moments(in, line.data_ptr<float>(), t.data());
  for (size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], t[i], 1e-5 * std::abs(s[i]));
}

}  // namespace
}  // namespace eps::nets
