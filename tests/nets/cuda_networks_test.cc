// Whole networks on CUDA's kernels against the CPU.
#include "eps/base/random.h"
#include "tests/nets/cuda_kernels.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

using CudaNetworks = CudaKernelsTest;

struct NetworkInputs {
  Tensor x, noise, classes;
};

NetworkInputs inputs_for(const UNetConfig& config, at::Device device) {
  const Tensor noise = at::tensor({-0.3, 0.9}, at::kFloat);
  const Tensor classes = config.label_dim > 0 ? at::eye(config.label_dim).slice(0, 1, 3) : Tensor();
  return {waves({2, 3, 8, 8}).to(device),
          noise.to(device),
          classes.defined() ? classes.to(device) : classes};
}

struct Answer {
  Tensor output;
  std::map<std::string, Tensor> gradients;

  // One vector of all gradients.
  Tensor all() const {
    std::vector<Tensor> parts;
    for (const auto& [name, gradient] : gradients) parts.push_back(gradient.flatten());
    return at::cat(parts);
  }
};

Answer answer_on(at::Device device, const UNetConfig& config, at::ScalarType type) {
  UNet network = wave_network(config);
  network.to(device, at::kFloat);
  network.compute_in(type);
  network.requires_grad(true);
  const NetworkInputs in = inputs_for(config, device);
  const Tensor output = network.forward(in.x, in.noise, in.classes);
  (output * at::cos(waves({2, 3, 8, 8}) * 7).to(device)).sum().backward();
  Answer answer{output.detach().cpu(), {}};
  for (const auto& [name, tensor] : network.parameters()) {
    if (tensor.grad().defined()) answer.gradients[name] = tensor.grad().cpu();
  }
  return answer;
}

TEST_F(CudaNetworks, AnswerAndLearnAsOnTheCpu) {
  for (const auto& [kind, config] : small_networks()) {
    const Answer cpu = answer_on(at::kCPU, config, at::kFloat);
    const Answer gpu = answer_on(at::Device(at::kCUDA, 0), config, at::kFloat);
    EXPECT_LT(relative_error(gpu.output, cpu.output), 1e-4) << kind;
    ASSERT_EQ(gpu.gradients.size(), cpu.gradients.size()) << kind;
    for (const auto& [name, wanted] : cpu.gradients) {
      EXPECT_LT(relative_error(gpu.gradients.at(name), wanted), 1e-4) << kind << " " << name;
    }
  }
}

// Activations are rounded to 8 bits at each layer, float32 numbers only in use.
TEST_F(CudaNetworks, MixedPrecisionStaysClose) {
  for (const auto& [kind, config] : small_networks()) {
    const Answer cpu = answer_on(at::kCPU, config, at::kFloat);
    const Answer gpu = answer_on(at::Device(at::kCUDA, 0), config, at::kBFloat16);
    EXPECT_LT(relative_error(gpu.output, cpu.output), 0x1p-5) << kind;
    EXPECT_LT(relative_error(gpu.all(), cpu.all()), 0.1) << kind;
    for (const auto& [name, gradient] : gpu.gradients) {
      EXPECT_EQ(gradient.scalar_type(), at::kFloat) << kind << " " << name;
    }
  }
}

TEST_F(CudaNetworks, InferenceAnswersAsTraining) {
  for (const auto& [kind, config] : small_networks()) {
    for (const auto& [type, bound] : {std::pair{at::kFloat, 1e-5}, {at::kBFloat16, 0x1p-7}}) {
      UNet network = wave_network(config);
      network.to(at::Device(at::kCUDA, 0), at::kFloat);
      network.compute_in(type);
      const NetworkInputs in = inputs_for(config, network.device());
      const Tensor inferred = network.forward(in.x, in.noise, in.classes);
      EXPECT_FALSE(inferred.requires_grad());
      network.requires_grad(true);
      const Tensor trained = network.forward(in.x, in.noise, in.classes);
      EXPECT_TRUE(trained.requires_grad());
      EXPECT_LT(relative_error(trained.detach(), inferred), bound) << kind << " " << type;
    }
  }
}

TEST_F(CudaNetworks, DropoutIsDrawnFromTheGivenGenerator) {
  const auto generator = [](uint64_t seed) {
    at::Generator made = at::globalContext().defaultGenerator(at::Device(at::kCUDA, 0)).clone();
    made.set_current_seed(seed);
    return made;
  };
  for (const auto& [kind, config] : small_edm_networks()) {
    UNet network = wave_network(config);
    network.to(at::Device(at::kCUDA, 0), at::kFloat);
    const NetworkInputs in = inputs_for(config, network.device());
    const auto answer = [&](uint64_t seed) {
      return network.forward(in.x, in.noise, in.classes, {}, generator(seed));
    };
    EXPECT_LT(relative_error(answer(1), answer(1)), 1e-6) << kind;
    EXPECT_GT(relative_error(answer(1), answer(2)), 1e-3) << kind;
  }
}

TEST_F(CudaNetworks, WidenedInputChangesNotOneBit) {
  for (const auto& [kind, config] : small_networks()) {
    UNet narrow = wave_network(config);
    UNet wide = widen_input(narrow, 3);
    narrow.to(at::Device(at::kCUDA, 0), at::kFloat);
    wide.to(at::Device(at::kCUDA, 0), at::kFloat);
    const NetworkInputs in = inputs_for(config, narrow.device());
    const Tensor anything = (Rng(1).normal({2, 3, 8, 8}, at::kFloat) * 1e6).to(narrow.device());
    const Tensor answer = wide.forward(at::cat({in.x, anything}, 1), in.noise, in.classes);
    EXPECT_TRUE(answer.equal(narrow.forward(in.x, in.noise, in.classes))) << kind;
  }
}

}  // namespace
}  // namespace eps::nets
