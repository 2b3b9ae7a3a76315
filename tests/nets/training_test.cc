// The U-Net in training: gradients, dropout and the initial values.
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eps/nets/unet.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

at::Generator seeded_generator(uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

// Central differences along one direction through every parameter and the input, in float64:
// truncation h^2 and rounding 1e-16 / h are both near 1e-11.
TEST(UNetTraining, GradientsAreThoseOfFiniteDifferences) {
  for (const auto& [kind, config] : small_networks()) {
    UNet network = wave_network(config);
    network.to(at::kCPU, at::kDouble);
    network.requires_grad(true);
    const Tensor noise = at::tensor({-0.3, 0.9}, at::kDouble);
    Tensor x = waves({2, 3, 8, 8}, at::kDouble).requires_grad_(true);
    const Tensor weight = at::cos(waves({2, 3, 8, 8}, at::kDouble) * 7);
    const auto loss = [&] { return (network.forward(x, noise) * weight).sum(); };

    loss().backward();
    Rng rng(5);
    std::vector<std::pair<Tensor, Tensor>> moved = {{x, rng.normal({2, 3, 8, 8})}};
    for (const auto& [name, tensor] : network.parameters()) {
      ASSERT_EQ(tensor.grad().defined(), name != "map_augment.weight") << kind << " " << name;
      if (!tensor.grad().defined()) continue;  // no augment labels were given
      moved.emplace_back(tensor, rng.normal(tensor.sizes().vec()) * 0.1);
    }
    double slope = 0;
    for (const auto& [tensor, direction] : moved) {
      slope += (tensor.grad() * direction).sum().item<double>();
    }

    c10::NoGradGuard no_grad;
    const double h = 1e-5;
    const auto loss_at = [&](double step) {
      for (const auto& [tensor, direction] : moved) tensor.add_(direction, step);
      const double value = loss().item<double>();
      for (const auto& [tensor, direction] : moved) tensor.add_(direction, -step);
      return value;
    };
    const double difference = (loss_at(h) - loss_at(-h)) / (2 * h);
    EXPECT_NEAR(difference / slope, 1, 1e-6) << kind;
  }
}

TEST(UNetTraining, DropoutIsDrawnFromTheGivenGenerator) {
  for (const auto& [name, config] : small_edm_networks()) {
    const UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor noise = at::tensor({-0.3, 0.9}, at::kFloat);
    const Tensor trained = network.forward(x, noise, {}, {}, seeded_generator(1));
    EXPECT_TRUE(trained.equal(network.forward(x, noise, {}, {}, seeded_generator(1)))) << name;
    EXPECT_FALSE(trained.equal(network.forward(x, noise, {}, {}, seeded_generator(2)))) << name;
    EXPECT_FALSE(trained.equal(network.forward(x, noise))) << name;
  }
}

// Inference has kernels of its own; training goes through autograd.
TEST(UNetTraining, WithoutDropoutTrainingAnswersAsInference) {
  for (auto [name, config] : small_networks()) {
    config.dropout = 0;
    UNet network = wave_network(config);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor noise = at::tensor({-0.3, 0.9}, at::kFloat);
    const Tensor inferred = network.forward(x, noise);
    EXPECT_FALSE(inferred.requires_grad()) << name;
    network.requires_grad(true);
    const Tensor trained = network.forward(x, noise, {}, {}, seeded_generator(1));
    EXPECT_TRUE(trained.requires_grad()) << name;
    EXPECT_LT(relative_error(inferred, trained.detach()), 2e-6) << name;
  }
}

// The answer is the rounded network's; the gradients reach the float32 numbers.
TEST(UNetTraining, MixedPrecisionRoundsWeightsOnlyInUse) {
  for (const auto& [name, config] : small_networks()) {
    UNet rounded = wave_network(config);
    rounded.to(at::kCPU, at::kBFloat16);
    UNet mixed = wave_network(config);
    mixed.compute_in(at::kBFloat16);
    const Tensor x = waves({2, 3, 8, 8});
    const Tensor noise = at::tensor({-0.3, 0.9}, at::kFloat);
    const Tensor labels =
        config.label_dim > 0 ? at::eye(config.label_dim).slice(0, 1, 3) : Tensor();
    EXPECT_TRUE(mixed.forward(x, noise, labels).equal(rounded.forward(x, noise, labels))) << name;
    mixed.requires_grad(true);
    mixed.forward(x, noise, labels).square().mean().backward();
    for (const auto& [parameter, tensor] : mixed.parameters()) {
      if (parameter == "map_augment.weight") continue;  // no augment labels were given
      ASSERT_EQ(tensor.grad().scalar_type(), at::kFloat) << name << " " << parameter;
      EXPECT_GT(tensor.grad().norm().item<double>(), 0) << name << " " << parameter;
    }
  }
}

TEST(UNetTraining, LabelDropoutPutsZerosInPlaceOfTheClass) {
  UNetConfig config = small_adm();
  config.dropout = 0;
  config.label_dropout = 1 - 1e-12;
  const UNet network = wave_network(config);
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor noise = at::tensor({-0.3, 0.9}, at::kFloat);
  const Tensor labels = at::eye(10).slice(0, 2, 4);
  const Tensor unlabelled = network.forward(x, noise);
  EXPECT_LT(relative_error(network.forward(x, noise, labels, {}, seeded_generator(1)), unlabelled),
            1e-6);
  EXPECT_GT(relative_error(network.forward(x, noise, labels), unlabelled), 1e-4);
}

double deviation(const Tensor& tensor) {
  return tensor.to(at::kDouble).square().mean().sqrt().item<double>();
}

std::map<std::string, Tensor> initial_tensors(const UNetConfig& config, uint64_t seed) {
  UNet network(config);
  Rng rng(seed);
  network.initialise(rng);
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : network.parameters()) tensors[name] = tensor;
  for (const auto& [name, tensor] : network.buffers()) tensors[name] = tensor;
  return tensors;
}

// U(-b, b) has deviation b / sqrt(3), known from n draws to b sqrt(1 / (15 n)); 5 of those are
// allowed, a false alarm of 6e-7 had the seed been random.
void expect_uniform(const Tensor& tensor, double bound, const char* name) {
  const auto n = static_cast<double>(tensor.numel());
  EXPECT_LE(tensor.abs().max().item<double>(), bound * (1 + 1e-6)) << name;
  EXPECT_NEAR(deviation(tensor), bound / std::sqrt(3), 5 * bound / std::sqrt(15 * n)) << name;
}

TEST(UNetTraining, SongStartsFromXavierUniform) {
  UNetConfig config = small_ncsnpp();
  config.model_channels = 32;
  const auto t = initial_tensors(config, 1);
  const double conv = std::sqrt(6.0 / (9 * 32 + 9 * 64));
  expect_uniform(t.at("enc.4x4_block0.conv0.weight"), conv, "conv0");
  expect_uniform(t.at("enc.4x4_block0.conv1.weight"), 1e-5 * std::sqrt(6.0 / (18 * 64)), "conv1");
  expect_uniform(t.at("enc.4x4_block0.proj.weight"), 1e-5 * std::sqrt(6.0 / (2 * 64)), "proj");
  expect_uniform(t.at("enc.4x4_block0.qkv.weight"), std::sqrt(0.2 * 6.0 / (64 + 192)), "qkv");
  expect_uniform(t.at("map_layer0.weight"), std::sqrt(6.0 / (64 + 128)), "map_layer0");
  EXPECT_EQ(deviation(t.at("enc.4x4_block0.conv0.bias")), 0);
  EXPECT_EQ(deviation(t.at("enc.4x4_block0.norm0.weight") - 1), 0);
  EXPECT_NEAR(deviation(t.at("map_noise.freqs")), 16, 16 * 5 / std::sqrt(2.0 * 32));
  const Tensor taps = at::tensor({1.0, 3.0, 3.0, 1.0}) / 8;
  EXPECT_TRUE(at::allclose(t.at("enc.4x4_down.skip.resample_filter")[0][0].to(at::kDouble),
                           at::outer(taps, taps).to(at::kDouble)));
}

TEST(UNetTraining, DhariwalStartsFromKaimingUniformAndSilentOutputs) {
  const auto t = initial_tensors(small_adm(), 1);
  const double conv = std::sqrt(1.0 / 3) * std::sqrt(3.0 / (9 * 64));
  expect_uniform(t.at("enc.4x4_block0.conv0.weight"), conv, "conv0");
  expect_uniform(t.at("enc.4x4_block0.conv0.bias"), conv, "conv0 bias");
  expect_uniform(t.at("enc.4x4_block0.qkv.weight"), std::sqrt(1.0 / 128), "qkv");
  EXPECT_EQ(deviation(t.at("enc.4x4_block0.conv1.weight")), 0);
  EXPECT_EQ(deviation(t.at("dec.4x4_in0.proj.weight")), 0);
  EXPECT_EQ(deviation(t.at("out_conv.weight")), 0);
  // kaiming_normal times sqrt(label_dim): deviation 1, known from n draws to sqrt(1 / (2 n)).
  const auto n = static_cast<double>(t.at("map_label.weight").numel());
  EXPECT_NEAR(deviation(t.at("map_label.weight")), 1, 5 / std::sqrt(2 * n));
}

TEST(UNetTraining, InitialValuesBelongToTheSeed) {
  const std::string name = "enc.8x8_conv.weight";
  const Tensor weight = initial_tensors(small_ddpmpp(), 1).at(name);
  EXPECT_TRUE(weight.equal(initial_tensors(small_ddpmpp(), 1).at(name)));
  EXPECT_FALSE(weight.equal(initial_tensors(small_ddpmpp(), 2).at(name)));
}

}  // namespace
}  // namespace eps::nets
