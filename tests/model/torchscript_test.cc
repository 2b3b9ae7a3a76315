// TorchScript as an opaque denoiser: run only where it is asked for, and with the answers of its
// code. Beside a prior N(0, 1) of each pixel E[x0 | x] = x / (1 + sigma^2).
#include "eps/model/scripted/torchscript.h"

#include <torch/csrc/jit/api/module.h>

#include "eps/model/checkpoint.h"
#include "eps/model/network_denoiser.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

class Scripted : public testing::Test {
 protected:
  // Writes a module with one parameter, 1, and this code.
  std::string write(const std::string& code) const {
    torch::jit::Module module("Denoiser");
    module.register_parameter("one", at::ones({1}), /*is_buffer=*/false);
    module.define(code);
    const std::string file = folder_.file("net.pt");
    module.save(file);
    return file;
  }
  const Folder folder_;
  const std::string normal_ = R"(
def forward(self, x, sigma):
    return self.one * x / (1 + sigma.view(-1, 1, 1, 1) ** 2)
)";
};

Tensor mean_of(const Checkpoint& model, const Tensor& x, const Tensor& sigma) {
  return NetworkDenoiser(model).mean({x, sigma});
}

TEST_F(Scripted, AnswersAsItsCodeDoes) {
  Checkpoint model = load_network("torchscript:file=" + write(normal_) + ",size=8");
  EXPECT_EQ(model.network.config().img_resolution, 8);
  const Tensor x = waves({2, 3, 8, 8});
  for (const Tensor& sigma : {scalar(2), at::tensor({0.5, 3.0}).reshape({2, 1, 1, 1})}) {
    const Tensor wanted = x / (1 + sigma.square());
    EXPECT_LT(relative_error(mean_of(model, x, sigma), wanted), 1e-6);
  }
  model.network.to(at::kCPU, at::kDouble);
  EXPECT_LT(relative_error(mean_of(model, x, scalar(2)), x / 5), 1e-6);
}

TEST_F(Scripted, HasDerivatives) {
  const Checkpoint model = load_network("torchscript:file=" + write(normal_) + ",size=8");
  const NetworkDenoiser denoiser(model);
  const Tensor x = waves({1, 3, 8, 8}).requires_grad_(true);
  denoiser.mean({x, scalar(2)}).sum().backward();
  EXPECT_LT((x.grad() - 0.2).abs().max().item<double>(), 1e-6);
}

// For this prior the best prediction of v = alpha n - beta x0 is 0 at every step.
TEST_F(Scripted, TakesStepsOfAProcess) {
  const std::string file = write("\ndef forward(self, x, t):\n    return x * 0\n");
  const Checkpoint model =
      load_network("torchscript:file=" + file + ",size=8,input=step,prediction=v,schedule=cosine");
  const Tensor x = waves({2, 3, 8, 8});
  EXPECT_LT(relative_error(mean_of(model, x, scalar(3)), x / 10), 1e-6);
  const std::string label =
      write("\ndef forward(self, x, t):\n    return x * 0 + t.view(-1, 1, 1, 1)\n");
  const Checkpoint steps =
      load_network("torchscript:file=" + label + ",size=8,input=step,prediction=sample,steps=50");
  const Tensor sigma = discrete_noise_levels(steps.preconditioning)[7];
  EXPECT_LT((mean_of(steps, x, sigma) - 7).abs().max().item<double>(), 1e-4);
}

TEST_F(Scripted, TakesClasses) {
  const std::string file =
      write("\ndef forward(self, x, sigma, y):\n    return x * 0 + y[:, 2].view(-1, 1, 1, 1)\n");
  const Checkpoint model = load_network("torchscript:file=" + file + ",size=8,classes=4");
  Query query{waves({2, 3, 8, 8}), scalar(1)};
  EXPECT_EQ(NetworkDenoiser(model).mean(query).abs().max().item<double>(), 0);
  query.labels = at::eye(4).slice(0, 1, 3);
  const Tensor mean = NetworkDenoiser(model).mean(query);
  EXPECT_EQ(mean[0].abs().max().item<double>(), 0);
  EXPECT_TRUE(mean[1].equal(at::ones({3, 8, 8})));
}

TEST_F(Scripted, IsNotRunUnlessAskedFor) {
  const std::string file = write(normal_);
  EXPECT_EQ(
      error_of([&] { load_network(file); }),
      file + ": a TorchScript archive, which holds code; torchscript:file=FILE,size=SIDE runs it");
  const Checkpoint model = load_network("torchscript:file=" + file + ",size=8");
  EXPECT_NE(error_of([&] { to_safetensors(model); }).find("no tensors to write"),
            std::string::npos);
}

TEST_F(Scripted, NamesWhatIsWrong) {
  const auto refused = [](const std::string& text, const Shape& images = {1, 3, 8, 8}) {
    return error_of([&] { mean_of(load_network(text), at::zeros(images), scalar(1)); });
  };
  const std::string spec = "torchscript:file=" + write(normal_);
  EXPECT_EQ(refused(spec), spec + ": no size; torchscript:file=FILE,size=SIDE is wanted");
  EXPECT_EQ(refused(spec + ",size=8,steps=9"), spec + ",size=8,steps=9: steps is of input=step");
  EXPECT_NE(refused(spec + ",size=8,depth=9").find("unknown field \"depth\""), std::string::npos);
  EXPECT_NE(refused(spec + ",size=8,classes=2").find("its code failed: "), std::string::npos);
  put_bytes(folder_.file("no.pt"), "no archive");
  EXPECT_NE(refused("torchscript:file=" + folder_.file("no.pt") + ",size=8").find("no TorchScript"),
            std::string::npos);
  const std::string narrow = write("\ndef forward(self, x, sigma):\n    return x[:, :1]\n");
  EXPECT_EQ(refused("torchscript:file=" + narrow + ",size=8"),
            narrow + ": forward() must return 1 x 3 x 8 x 8, got 1 x 1 x 8 x 8");
  const std::string two = write("\ndef forward(self, x, sigma):\n    return x, sigma\n");
  EXPECT_NE(refused("torchscript:file=" + two + ",size=8").find("must return a tensor, got Tuple"),
            std::string::npos);
  const std::string raises = write(
      "\ndef forward(self, x, sigma):\n    assert x.size(0) > 9, 'not today'\n    return x\n");
  const std::string words = refused("torchscript:file=" + raises + ",size=8");
  EXPECT_NE(words.find("not today"), std::string::npos) << words;
  EXPECT_EQ(words.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace eps
