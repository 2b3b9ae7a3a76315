// The networks against recorded answers: EDM's own, where its files are at hand, and ours.
#include <gtest/gtest.h>

#include "eps/io/safetensors.h"
#include "eps/model/preconditioned_query.h"
#include "tests/shared.h"
#include "tests/small_networks.h"

namespace eps::nets {
namespace {

struct Reference {
  UNet network;
  std::map<std::string, Tensor> answers;  // x, sigma, D, ... and perhaps labels

  Conditioning conditioning(int64_t begin, int64_t end) const {
    const auto labels = answers.find("labels");
    if (labels == answers.end()) return {};
    return {.labels = labels->second.slice(0, begin, end)};
  }
};

Reference read_reference(const std::string& path) {
  const Safetensors file = read_safetensors(path);
  Reference reference{UNet(parse_unet_config(file.metadata.at("config"))), {}};
  std::map<std::string, Tensor> weights;
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with("model.")) weights[name.substr(6)] = tensor;
    if (name.starts_with("ref.")) reference.answers[name.substr(4)] = tensor;
  }
  reference.network.load(weights);
  return reference;
}

class AgainstEdm : public ::testing::TestWithParam<const char*> {};

TEST_P(AgainstEdm, DenoisersAgreeForEveryBatchSize) {
  const std::string name = std::string("reference/edm-") + GetParam() + "-16.safetensors";
  const std::string path = shared_file(name);
  if (path.empty()) GTEST_SKIP() << "no " << name << " beside the checkout or under EPS_SHARED";
  Reference reference = read_reference(path);
  const auto& answers = reference.answers;
  for (const auto& [batch, gradients] : {std::pair{1, false}, {3, false}, {3, true}}) {
    reference.network.requires_grad(gradients);  // inference has kernels of its own
    for (int64_t begin = 0; begin < 3; begin += batch) {
      const auto part = [&](const char* tensor) {
        return answers.at(tensor).slice(0, begin, begin + batch);
      };
      const Tensor mean = denoise(reference.network,
                                  {},
                                  part("x"),
                                  part("sigma"),
                                  reference.conditioning(begin, begin + batch));
      EXPECT_LT(relative_error(mean.detach(), part("D")), 1e-5) << "images " << begin << " on";
    }
  }
}

// The same on a GPU, in true float32.
TEST_P(AgainstEdm, DenoisersAgreeOnAGpu) {
  const std::string name = std::string("reference/edm-") + GetParam() + "-16.safetensors";
  const std::string path = shared_file(name);
  if (path.empty()) GTEST_SKIP() << "no " << name << " beside the checkout or under EPS_SHARED";
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  at::globalContext().setAllowTF32CuDNN(false);
  Reference reference = read_reference(path);
  reference.network.to(at::Device(at::kCUDA, 0), at::kFloat);
  const auto& answers = reference.answers;
  Conditioning conditioning = reference.conditioning(0, 3);
  if (conditioning.labels.defined()) conditioning.labels = conditioning.labels.cuda();
  if (conditioning.augment_labels.defined())
    conditioning.augment_labels = conditioning.augment_labels.cuda();
  const Tensor mean = denoise(
      reference.network, {}, answers.at("x").cuda(), answers.at("sigma").cuda(), conditioning);
  EXPECT_LT(relative_error(mean.detach().cpu(), answers.at("D")), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         AgainstEdm,
                         ::testing::Values("ddpmpp", "ncsnpp", "adm"),
                         [](const auto& info) { return std::string(info.param); });

// What our networks answered on the day they agreed with EDM's, for where EDM's files are not.
TEST(Reference, SmallNetworksAnswerAsRecorded) {
  const auto recorded = read_safetensors(EPS_SOURCE_DIR
                                         "/tests/fixtures"
                                         "/small_networks.safetensors")
                            .tensors;
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor sigma = at::tensor({0.4, 5.0}, at::kFloat);
  for (const auto& [name, config] : small_edm_networks()) {
    const UNet network = wave_network(config);
    const Conditioning conditioning{
        .labels = config.label_dim ? at::eye(config.label_dim).slice(0, 1, 3) : Tensor(),
        .augment_labels = config.augment_dim ? waves({2, config.augment_dim}) : Tensor()};
    const Tensor mean = denoise(network, {}, x, sigma, conditioning);
    EXPECT_LT(relative_error(mean, recorded.at(name)), 1e-5) << name;
  }
}

}  // namespace
}  // namespace eps::nets
