// Holes of a large picture, restored by windows around them.
#include "eps/restore/holes.h"

#include <gtest/gtest.h>

#include "eps/diffusion/denoiser.h"
#include "eps/diffusion/sampler.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/factories.h"
#include "eps/priors/stationary.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

Tensor with_holes(int64_t height, int64_t width, const std::vector<std::array<int64_t, 4>>& holes) {
  const Tensor measured = at::ones({height, width}, at::kBool);
  for (const auto& [top, left, rows, columns] : holes)
    measured.narrow(0, top, rows).narrow(1, left, columns).fill_(false);
  return measured;
}

// Two holes near one another, one far away at the corner, and one of a single pixel.
TEST(Windows, CoverEachHoleOnceWithItsSurroundings) {
  const Tensor measured =
      with_holes(300, 400, {{40, 50, 10, 20}, {70, 60, 5, 5}, {290, 380, 10, 20}, {200, 5, 1, 1}});
  const std::vector<Window> windows = windows_around(measured, 25);
  ASSERT_EQ(windows.size(), 3u);
  Tensor restored = at::zeros({300, 400}, at::kInt);
  for (const Window& window : windows) {
    window.of(restored).add_(window.holes.to(at::kInt));
    // Every hole is 25 pixels from the window's end, or the picture ends there.
    const Tensor rows = window.holes.any(1).nonzero(), columns = window.holes.any(0).nonzero();
    EXPECT_TRUE(rows.min().item<int64_t>() == 25 || window.top == 0);
    EXPECT_TRUE(columns.min().item<int64_t>() == 25 || window.left == 0);
    EXPECT_TRUE(window.height - 1 - rows.max().item<int64_t>() == 25 ||
                window.top + window.height == 300);
    EXPECT_TRUE(window.width - 1 - columns.max().item<int64_t>() == 25 ||
                window.left + window.width == 400);
  }
  EXPECT_TRUE(restored.equal(measured.logical_not().to(at::kInt)));
  EXPECT_TRUE(windows_around(with_holes(50, 60, {}), 5).empty());
}

TEST(Windows, AreOneWhereTheyHaveMorePixelsThanThePicture) {
  const Tensor measured = with_holes(100, 120, {{10, 10, 2, 2}, {50, 60, 3, 1}, {90, 110, 4, 4}});
  const Problem problem{.A = inpainting(measured.to(at::kDouble).reshape({1, 1, 100, 120})),
                        .y = at::zeros({1, 3, 100, 120}, at::kDouble)};
  EXPECT_EQ(cheapest(windows_around(measured, 5), problem).size(), 2u);  // two are near
  const std::vector<Window> one = cheapest(windows_around(measured, 60), problem);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].pixels(), 100 * 120);
  EXPECT_TRUE(one[0].holes.equal(measured.logical_not()));
  EXPECT_TRUE(cheapest({}, problem).empty());
}

// The estimate of a local network in a hole, at one state of the sampler, in a window and in the
// whole picture.
TEST(Windows, HaveTheEstimatesOfTheWholePicture) {
  const c10::NoGradGuard no_gradients;
  nets::UNetConfig config = small_patched();
  const NetworkInput input = NetworkInput::eps_precision.with(Channel::skip);
  config.in_channels = input.channels(config.img_channels);
  const Checkpoint network{.network = wave_network(config),
                           .preconditioning = {.kind = Preconditioning::Kind::anisotropic},
                           .input = input};
  const NetworkDenoiser denoiser(network);
  const int64_t radius = *network.network.plan().receptive_radius(), divisor = config.divisor();
  const Tensor measured = with_holes(190, 230, {{93, 117, 7, 11}});
  const Problem problem{.A = inpainting(measured.to(at::kDouble).reshape({1, 1, 190, 230})),
                        .y = 0.3 * Rng(1).normal({1, 3, 190, 230}) * measured,
                        .sigma_y = scalar(0.1)};
  const Tensor x = Rng(2).normal({1, 3, 190, 230});
  const auto estimate = [&](const Problem& of, const Tensor& state) {
    return posterior_mean(denoiser, of, edm(), input.without(Channel::skip))(state, scalar(0.7));
  };
  const Tensor whole = estimate(problem, x);
  const auto difference = [&](int64_t grid) {
    const Window window = windows_around(measured, radius, grid)[0];
    EXPECT_LT(window.height, 190);
    const Tensor part = estimate(within(problem, window), window.of(x).contiguous());
    return relative_error(part.masked_select(window.holes),
                          window.of(whole).masked_select(window.holes));
  };
  EXPECT_LT(difference(divisor), 1e-5);
  // Off the network's grid of pixels the answer is another.
  EXPECT_GT(difference(1), 1e-4);
}

// A prior whose pixels are independent: each hole has the prior's law, whatever surrounds it, and
// measured pixels stay as they are.
TEST(RestoreHoles, LeavesMeasuredPixelsAndDrawsTheOthers) {
  constexpr int64_t kHeight = 96, kWidth = 128, kSamples = 40;
  constexpr double kPower = 0.04, kMean = 0.2, kSigma = 0.05;
  const Tensor measured = with_holes(kHeight, kWidth, {{10, 10, 12, 12}, {70, 100, 10, 14}});
  // A window is a picture of its own size, for which there is a prior of that size.
  class Independent final : public Denoiser {
   public:
    Tensor mean(const Query& query) const override {
      const Stationary prior(
          at::full({1, query.x.size(2), query.x.size(3)}, kMean, at::kDouble),
          at::full({1, query.x.size(2), query.x.size(3) / 2 + 1}, kPower, at::kDouble));
      return prior.mean(query);
    }
    std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
      return Stationary(at::zeros({1, 4, 4}, at::kDouble), at::ones({1, 4, 3}, at::kDouble))
          .input_for(method);
    }
  };
  Rng rng(3);
  const Tensor y = (kMean + 0.2 * rng.normal({1, 1, kHeight, kWidth})).clamp(-1, 1);
  const Problem problem{.A = inpainting(measured.to(at::kDouble).reshape({1, 1, kHeight, kWidth})),
                        .y = y * measured,
                        .sigma_y = scalar(kSigma)};
  const std::vector<Window> windows = windows_around(measured, 8);
  ASSERT_EQ(windows.size(), 2u);
  std::vector<Tensor> means;
  const auto keep = [&](const std::function<Tensor()>& mean) { means.push_back(mean()); };
  const auto [all, first] = restore_holes(choose_method("eps"),
                                          Independent(),
                                          problem,
                                          windows,
                                          {.samples = kSamples, .on_mean = keep});
  // The running mean is that of the picture: the first window, while the second is as it was read.
  ASSERT_GT(means.size(), 1u);
  EXPECT_TRUE(means[0][0].masked_select(measured).equal(y[0][0].masked_select(measured)));
  EXPECT_EQ(windows[1].of(means[0]).masked_select(windows[1].holes).abs().max().item<double>(), 0);
  EXPECT_GT(windows[1].of(means.back()).masked_select(windows[1].holes).abs().min().item<double>(),
            0);
  EXPECT_EQ(all.samples.sizes(), at::IntArrayRef({kSamples, 1, kHeight, kWidth}));
  EXPECT_EQ(first.size(2), windows[0].height);
  for (const Tensor& sample : all.samples.unbind(0))
    EXPECT_TRUE(sample[0].masked_select(measured).equal(y[0][0].masked_select(measured)));
  EXPECT_TRUE((all.deviation[0].masked_select(measured) == kSigma).all().item<bool>());
  const Tensor drawn = all.samples.masked_select(measured.logical_not());
  const auto n = static_cast<double>(drawn.numel());
  EXPECT_NEAR(drawn.mean().item<double>(), kMean, 5 * std::sqrt(kPower / n));
  // 20 steps of the sampler have an error of their own.
  EXPECT_NEAR(drawn.var().item<double>() / kPower, 1, 5 * std::sqrt(2 / n) + 0.03);
  // The two windows have random numbers of their own.
  const auto hole = [&](const Window& window) {
    return window.of(all.samples)[0][0].masked_select(window.holes).slice(0, 0, 100);
  };
  const Tensor a = hole(windows[0]) - kMean, b = hole(windows[1]) - kMean;
  EXPECT_LT((a * b).mean().abs().item<double>() / kPower, 5 / std::sqrt(100.0));
  EXPECT_NEAR(all.chi2, 1, 0.2);
}

}  // namespace
}  // namespace eps
