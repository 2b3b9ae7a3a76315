// The U-Net for pictures of any size.
#include <gtest/gtest.h>

#include "eps/nets/layers.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

const Tensor kLevel = at::tensor({-0.3}, at::kFloat);

// Levels of 1, 2 and 4 pixels with one block on the way down and one up: two convolutions at the
// ends, four in blocks at each of the upper levels and two at the lowest, and 3 pixels of
// alignment.
TEST(Local, TheRadiusIsThatOfItsLayers) {
  EXPECT_EQ(UNetPlan(small_local()).receptive_radius(), 2 + 4 * 1 + 4 * 2 + 2 * 4 + 3);
  EXPECT_FALSE(UNetPlan(small_ddpmpp()).receptive_radius());
  UNetConfig grouped = small_local();
  grouped.norm = "group";
  EXPECT_FALSE(UNetPlan(grouped).receptive_radius());
}

// The derivative of an output by the inputs is 0 beyond the radius, and not 0 near it.
TEST(Local, NothingBeyondTheRadiusMatters) {
  const UNet network = wave_network(small_local());
  const int64_t radius = *network.plan().receptive_radius(), side = 2 * radius + 16;
  for (const int64_t place : {radius + 4, radius + 7}) {
    const Tensor x = waves({1, 3, side, side}).requires_grad_();
    network.forward(x, kLevel).select(3, place).select(2, place).sum().backward();
    const Tensor seen = x.grad().abs().sum(at::IntArrayRef({0, 1})) > 0;
    Tensor distance = (at::arange(side) - place).abs();
    distance = at::maximum(distance.unsqueeze(0), distance.unsqueeze(1));
    EXPECT_FALSE(at::logical_and(seen, distance > radius).any().item<bool>());
    EXPECT_GE(distance.masked_select(seen).max().item<int64_t>(), radius - 3) << place;
  }
}

// The part of an image far from its border has the answer of the image.
TEST(Local, AnswersDoNotDependOnWhatIsFarAway) {
  const UNet network = wave_network(small_local());
  const int64_t radius = *network.plan().receptive_radius(), halo = (radius + 3) / 4 * 4;
  const Tensor x = waves({1, 3, 2 * halo + 24, 2 * halo + 40});
  const Tensor whole = network.forward(x, kLevel);
  const auto inside = [&](const Tensor& image, int64_t from, int64_t size) {
    return image.slice(2, from, from + size).slice(3, from, from + size);
  };
  const Tensor part = network.forward(inside(x, 8, 2 * halo + 12), kLevel);
  EXPECT_LT(relative_error(inside(part, halo, 12), inside(whole, 8 + halo, 12)), 1e-6);
}

TEST(Local, OddSidesAreContinuedByReflection) {
  const UNet network = wave_network(small_local());
  const Tensor x = waves({2, 3, 13, 18});
  const Tensor answer = network.forward(x, kLevel);
  EXPECT_EQ(answer.sizes(), x.sizes());
  const Tensor larger = network.forward(at::reflection_pad2d(x, {0, 2, 0, 3}), kLevel);
  EXPECT_TRUE(answer.equal(larger.slice(2, 0, 13).slice(3, 0, 18)));
  EXPECT_EQ(error_of([&] {
              network.forward(waves({1, 3, 3, 16}), kLevel);
            }),
            "network: the image's sides must be at least 4, got 1 x 3 x 3 x 16");
}

// The kernels without gradients and the layers with them are the same function.
TEST(Local, InferenceIsTraining) {
  for (const char* norm : {"pixel", "group"}) {
    UNetConfig config = small_local();
    config.norm = norm;
    UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 16, 12});
    const Tensor fused = network.forward(x, kLevel);
    network.requires_grad(true);
    EXPECT_LT(relative_error(network.forward(x, kLevel).detach(), fused), 1e-6) << norm;
  }
}

// Zero weights behind the last norm leave 0, so that training starts from c_skip x.
TEST(Local, StartsWithTheLinearEstimate) {
  UNet network(small_local());
  Rng rng(1);
  network.initialise(rng);
  EXPECT_EQ(network.forward(waves({1, 3, 8, 8}), kLevel).abs().max().item<float>(), 0);
}

TEST(Local, RefusesWhatWouldSeeEverything) {
  UNetConfig config = small_local();
  config.attn_resolutions = {4};
  EXPECT_EQ(error_of([&] { validate(config); }),
            "network config: a LocalUNet has neither attention nor dropout");
  config = small_ddpmpp();
  config.norm = "group";
  EXPECT_EQ(error_of([&] { validate(config); }), "network config: norm is for a LocalUNet only");
  config = small_local();
  config.norm = "batch";
  EXPECT_EQ(error_of([&] { validate(config); }),
            "network config: norm must be one of pixel, group; got \"batch\"");
}

}  // namespace
}  // namespace eps::nets
