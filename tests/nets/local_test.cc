// The U-Net for pictures of any size.
#include <gtest/gtest.h>

#include "eps/nets/layers.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

const Tensor kLevel = at::tensor({-0.3}, at::kFloat);

int64_t rounded_up(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor * divisor; }

// Levels of 1, 2 and 4 pixels with one block on the way down and one up: two convolutions at the
// ends, four in blocks at each of the upper levels and two at the lowest, and 3 pixels of
// alignment.
TEST(Local, TheRadiusIsThatOfItsLayers) {
  EXPECT_EQ(UNetPlan(small_local()).receptive_radius(), 2 + 4 * 1 + 4 * 2 + 2 * 4 + 3);
  EXPECT_FALSE(UNetPlan(small_ddpmpp()).receptive_radius());
  // With patches every level is twice as coarse, and the first layer merges pixels.
  EXPECT_EQ(UNetPlan(small_patched()).receptive_radius(), 2 + 4 * 2 + 4 * 4 + 2 * 8 + 7);
  UNetConfig grouped = small_local();
  grouped.norm = "group";
  EXPECT_FALSE(UNetPlan(grouped).receptive_radius());
}

// The derivative of an output by the inputs is 0 beyond the radius, and not 0 near it.
TEST(Local, NothingBeyondTheRadiusMatters) {
  for (const UNetConfig& config : {small_local(), small_patched()}) {
    const UNet network = wave_network(config);
    const int64_t radius = *network.plan().receptive_radius(), divisor = config.divisor();
    const int64_t side = rounded_up(2 * radius + 16, divisor);
    for (const int64_t place : {rounded_up(radius, divisor), rounded_up(radius, divisor) + 3}) {
      const Tensor x = waves({1, 3, side, side}).requires_grad_();
      network.forward(x, kLevel).select(3, place).select(2, place).sum().backward();
      const Tensor seen = x.grad().abs().sum(at::IntArrayRef({0, 1})) > 0;
      Tensor distance = (at::arange(side) - place).abs();
      distance = at::maximum(distance.unsqueeze(0), distance.unsqueeze(1));
      EXPECT_FALSE(at::logical_and(seen, distance > radius).any().item<bool>());
      EXPECT_GE(distance.masked_select(seen).max().item<int64_t>(), radius - divisor + 1) << place;
    }
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
  UNetConfig grouped = small_local();
  grouped.norm = "group";
  for (const UNetConfig& config : {small_local(), small_patched(), grouped}) {
    UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 16, 12});
    const Tensor fused = network.forward(x, kLevel);
    network.requires_grad(true);
    EXPECT_LT(relative_error(network.forward(x, kLevel).detach(), fused), 1e-6) << to_json(config);
  }
}

// The finest level has a pixel for each 2 x 2, so that four pixels of the image are its channels.
TEST(Local, PatchesAreMergedAndSplit) {
  const UNetConfig config = small_patched();
  EXPECT_EQ(config.divisor(), 8);
  UNet network = wave_network(config);
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : network.parameters()) tensors[name] = tensor;
  EXPECT_EQ(tensors.at("conv_in.weight").sizes(), at::IntArrayRef({8, 3, 2, 2}));
  EXPECT_EQ(tensors.at("conv_out.weight").sizes(), at::IntArrayRef({12, 8, 3, 3}));
  // A last layer of biases alone gives the upper left pixels the first channels, and so on.
  tensors.at("conv_out.weight").zero_();
  tensors.at("conv_out.bias").copy_(at::arange(12));
  const Tensor answer = network.forward(waves({1, 3, 16, 16}), kLevel);
  for (const int64_t row : {0, 1})
    for (const int64_t column : {0, 1})
      for (const int64_t channel : {0, 1, 2})
        EXPECT_EQ(answer[0][channel][2 + row][4 + column].item<float>(),
                  static_cast<float>((2 * row + column) * 3 + channel));
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
  config = small_ddpmpp();
  config.patch = 2;
  EXPECT_EQ(error_of([&] { validate(config); }), "network config: patch is for a LocalUNet only");
  config = small_local();
  config.patch = 3;
  EXPECT_EQ(error_of([&] { validate(config); }), "network config: patch must be at most 2, got 3");
  config = small_local();
  config.norm = "batch";
  EXPECT_EQ(error_of([&] { validate(config); }),
            "network config: norm must be one of pixel, group; got \"batch\"");
}

}  // namespace
}  // namespace eps::nets
