// The U-Net in inference: sizes, precisions, labels, loading and widening.
#include "eps/nets/unet.h"

#include <gtest/gtest.h>

#include "eps/nets/layers.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

const Tensor kNoise = at::tensor({-0.3, 0.9}, at::kFloat);

std::map<std::string, Tensor> tensors_of(const UNet& network) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : network.parameters()) tensors[name] = tensor;
  for (const auto& [name, tensor] : network.buffers()) tensors[name] = tensor;
  return tensors;
}

TEST(UNet, AnImagesAnswerDoesNotDependOnItsBatch) {
  for (const auto& [name, config] : small_networks()) {
    const UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor together = network.forward(x, kNoise);
    const Tensor alone = network.forward(x.slice(0, 1, 2), kNoise.slice(0, 1, 2));
    EXPECT_LT(relative_error(together.slice(0, 1, 2), alone), 1e-6) << name;
    const Tensor shared = network.forward(x, kNoise.slice(0, 1, 2));
    EXPECT_LT(relative_error(shared.slice(0, 1, 2), alone), 1e-6) << name;
  }
}

// The configured resolution names tensors and places attention; it does not enter the function.
TEST(UNet, RunsAtAnySizeThatItsLevelsDivide) {
  UNetConfig larger = small_ddpmpp();
  larger.img_resolution = 16;
  larger.attn_resolutions = {8};
  const Tensor x = waves({2, 3, 16, 24});
  const Tensor answer = wave_network(small_ddpmpp()).forward(x, kNoise);
  EXPECT_EQ(answer.sizes(), x.sizes());
  EXPECT_TRUE(answer.equal(wave_network(larger).forward(x, kNoise)));

  const auto at_10 = [&] { wave_network(larger).forward(waves({2, 3, 16, 10}), kNoise); };
  EXPECT_EQ(error_of(at_10),
            "network: the image's sides must be multiples of 4, got 2 x 3 x 16 x 10");
}

// Rounding of weights and activations to 8 and 11 bits; the bounds are 4 units of the last place.
TEST(UNet, NarrowTypesStayCloseToFloat32) {
  for (const auto& [name, config] : small_networks()) {
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor exact = wave_network(config).forward(x, kNoise);
    for (const auto& [type, bound] : {std::pair{at::kBFloat16, 0x1p-6}, {at::kHalf, 0x1p-9}}) {
      UNet narrow = wave_network(config);
      narrow.to(at::kCPU, type);
      const Tensor answer = narrow.forward(x, kNoise);
      EXPECT_EQ(answer.scalar_type(), at::kFloat);
      EXPECT_LT(relative_error(answer, exact), bound) << name << " " << type;
      EXPECT_GT(relative_error(answer, exact), 0) << name << " " << type;
    }
    UNet wide = wave_network(config);
    wide.to(at::kCPU, at::kDouble);
    EXPECT_LT(relative_error(wide.forward(x.to(at::kDouble), kNoise), exact), 1e-5) << name;
  }
}

TEST(UNet, AbsentLabelsAreZeros) {
  for (const UNetConfig& config : {small_adm(), small_pyramid()}) {
    const UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor absent = network.forward(x, kNoise);
    EXPECT_TRUE(absent.equal(network.forward(x, kNoise, at::zeros({2, config.label_dim}))));
    Tensor third = at::zeros({2, config.label_dim});
    third.select(1, 3).fill_(1);
    EXPECT_GT(relative_error(network.forward(x, kNoise, third), absent), 1e-4);
    EXPECT_EQ(
        error_of([&] {
          network.forward(x, kNoise, at::zeros({2, 7}));
        }),
        "network: class labels must be N x " + std::to_string(config.label_dim) + ", got 2 x 7");
  }
}

TEST(UNet, AbsentAugmentLabelsAreZeros) {
  const UNet network = wave_network(small_ddpmpp());
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor absent = network.forward(x, kNoise);
  EXPECT_TRUE(absent.equal(network.forward(x, kNoise, {}, at::zeros({2, 9}))));
  EXPECT_GT(relative_error(network.forward(x, kNoise, {}, at::ones({2, 9})), absent), 1e-4);
}

TEST(UNet, WrongInputsAreNamed) {
  const UNet network = wave_network(small_ddpmpp());
  EXPECT_EQ(error_of([&] {
              network.forward(waves({1, 4, 8, 8}), kNoise);
            }),
            "network: the input must be N x 3 x H x W, got 1 x 4 x 8 x 8");
  EXPECT_EQ(error_of([&] {
              network.forward(waves({3, 3, 8, 8}), kNoise);
            }),
            "network: one noise label or one per image is wanted, got 2 for 3 images");
}

TEST(UNet, LoadNamesWhatIsWrong) {
  UNet network = wave_network(small_ncsnpp());
  const auto tensors = tensors_of(wave_network(small_ncsnpp()));
  const auto load_with = [&](const std::string& name, const Tensor& tensor) {
    auto changed = tensors;
    changed[name] = tensor;
    return error_of([&] { network.load(changed); });
  };
  EXPECT_EQ(load_with("enc.8x8_conv.scale", at::ones({1})),
            "network: unknown tensor \"enc.8x8_conv.scale\"");
  EXPECT_EQ(load_with("enc.8x8_conv.weight", at::ones({8, 6, 3, 3})),
            "network: tensor \"enc.8x8_conv.weight\" must be 8 x 3 x 3 x 3, got 8 x 6 x 3 x 3");
  EXPECT_EQ(load_with("enc.4x4_down.conv0.resample_filter", at::full({1, 1, 4, 4}, 1.0 / 16)),
            "network: tensor \"enc.4x4_down.conv0.resample_filter\" is not the filter that "
            "resample_filter in the config describes");
  auto fewer = tensors;
  fewer.erase("map_layer0.bias");
  EXPECT_EQ(error_of([&] { network.load(fewer); }),
            "network: tensor \"map_layer0.bias\" is missing");
}

TEST(UNet, LoadedNumbersAnswerAlike) {
  for (const auto& [name, config] : small_networks()) {
    const UNet network = wave_network(config);
    UNet copy(config);
    copy.load(tensors_of(network));
    const Tensor x = waves({2, 3, 8, 8});
    EXPECT_TRUE(copy.forward(x, kNoise).equal(network.forward(x, kNoise))) << name;
  }
}

TEST(UNet, AClonesNumbersAreItsOwn) {
  const UNet network = wave_network(small_ncsnpp());
  const UNet clone = network.clone();
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor answer = network.forward(x, kNoise);
  EXPECT_TRUE(clone.forward(x, kNoise).equal(answer));
  for (const auto& [name, tensor] : clone.parameters()) tensor.zero_();
  EXPECT_TRUE(network.forward(x, kNoise).equal(answer));
}

TEST(UNet, WidenedInputChangesNotOneBit) {
  for (const auto& [name, config] : small_networks()) {
    const UNet narrow = wave_network(config);
    const UNet wide = widen_input(narrow, 3);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor anything = Rng(1).normal({2, 3, 8, 8}, at::kFloat) * 1e6;
    const Tensor answer = narrow.forward(x, kNoise);
    EXPECT_TRUE(answer.equal(wide.forward(at::cat({x, anything}, 1), kNoise))) << name;
    EXPECT_EQ(wide.config().in_channels, 6);
    EXPECT_EQ(wide.config().out_channels, 3);
  }
}

// The new weights are not idle: they get a gradient from the first step on.
TEST(UNet, WidenedInputCanBeTrained) {
  UNet wide = widen_input(wave_network(small_ncsnpp()), 1);
  wide.requires_grad(true);
  wide.forward(waves({2, 4, 8, 8}), kNoise).square().mean().backward();
  for (const auto& [name, tensor] : wide.parameters()) {
    if (name != "enc.8x8_conv.weight" && name != "enc.4x4_aux_residual.weight") continue;
    EXPECT_GT(tensor.grad().slice(1, 3).norm().item<double>(), 1e-4) << name;
  }
}

// Other names, the same tensors: the answers agree at every size.
TEST(UNet, AnotherResolutionIsTheSameNetwork) {
  for (const UNetConfig& config : {small_ddpmpp(), small_pyramid(), small_adm()}) {
    const UNet small = wave_network(config), large = at_resolution(small, 24);
    EXPECT_EQ(large.config().img_resolution, 24);
    EXPECT_EQ(large.config().attn_resolutions, std::vector<int64_t>{12});
    EXPECT_NE(large.parameters()[10].name, small.parameters()[10].name);
    for (const int64_t side : {8, 24}) {
      const Tensor x = waves({2, 3, side, side});
      EXPECT_TRUE(identical(large.forward(x, kNoise), small.forward(x, kNoise)));
    }
    EXPECT_EQ(at_resolution(large, 8).config(), small.config());
  }
  EXPECT_EQ(error_of([] { at_resolution(wave_network(small_ddpmpp()), 18); }),
            "network config: img_resolution must be a multiple of 4, got 18");
}

// Output channel ((head * 64 + c) * 3 + j) of qkv is q, k, v for j = 0, 1, 2.
TEST(UNet, AttentionInterleavesQueriesKeysAndValuesPerHead) {
  c10::NoGradGuard no_grad;
  UNet network = wave_network(small_adm());
  network.to(at::kCPU, at::kDouble);
  const UNetPlan& plan = network.plan();
  const auto tensors = tensors_of(network);
  std::vector<Tensor> table;
  for (const auto& spec : plan.tensors) table.push_back(tensors.at(spec.name));
  const auto in0 = std::find_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::plain_block;
  });
  const Tensor x = waves({1, 128, 2, 3}, at::kDouble);

  const std::string block = "dec.4x4_in0.";
  const auto get = [&](const std::string& name) { return tensors.at(block + name); };
  const Tensor normed =
      at::group_norm(x, 32, get("norm2.weight"), get("norm2.bias"), 1e-5).reshape({128, 6});
  const Tensor mixed =
      at::matmul(get("qkv.weight").reshape({384, 128}), normed) + get("qkv.bias").unsqueeze(1);
  Tensor answer = at::zeros({128, 6}, at::kDouble);
  for (int64_t head = 0; head < 2; ++head) {
    const auto rows = [&](int64_t j) {
      return mixed.slice(0, head * 192 + j, (head + 1) * 192, 3);  // (64, 6)
    };
    const Tensor weights = at::softmax(at::matmul(rows(0).t(), rows(1)) / 8, 1);
    answer.slice(0, head * 64, (head + 1) * 64).copy_(at::matmul(rows(2), weights.t()));
  }
  const Tensor projected =
      at::matmul(get("proj.weight").reshape({128, 128}), answer) + get("proj.bias").unsqueeze(1);

  const Evaluation evaluation{plan, table};
  const Tensor ours = attend(evaluation, *in0->block.attention, x);
  EXPECT_LT(relative_error(ours, projected.reshape(x.sizes()) + x), 1e-12);
}

// With the pyramids' own convolutions silent, the network is the one without pyramids.
TEST(UNet, PyramidsAddToTheStandardNetwork) {
  c10::NoGradGuard no_grad;
  UNetConfig standard = small_pyramid();
  standard.encoder_type = standard.decoder_type = "standard";
  standard.resample_filter = {1, 1};
  UNetConfig pyramids = small_pyramid();
  pyramids.resample_filter = {1, 1};
  const UNet plain = wave_network(standard);
  const UNet network = wave_network(pyramids);
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor answer = plain.forward(x, kNoise);
  for (const auto& [name, tensor] : network.parameters()) {
    if (name.starts_with("enc.4x4_aux_skip") || name.starts_with("dec.4x4_aux_conv")) {
      tensor.zero_();
    }
  }
  EXPECT_LT(relative_error(network.forward(x, kNoise), answer), 1e-6);
  for (const auto& [name, tensor] : network.parameters()) {
    if (name == "dec.4x4_aux_conv.bias") tensor.fill_(0.25);
  }
  EXPECT_LT(relative_error(network.forward(x, kNoise), answer + 0.25), 1e-6);
}

}  // namespace
}  // namespace eps::nets
