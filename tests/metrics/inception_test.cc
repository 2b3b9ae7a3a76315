// Inception features: the reference's numbers, the network written out, and files of all lengths.
#include "eps/metrics/inception.h"

#include <gtest/gtest.h>

#include "tests/files.h"
#include "tests/metrics/inception_network.h"
#include "tests/shared.h"

namespace eps {
namespace {

Tensor random_batch(int64_t count, int64_t channels = 3) {
  Rng rng(2);
  return rng.uniform({count, channels, 20, 24}, at::kFloat) * 2 - 1;
}

// |a - b| / |b|.
double relative_error(const Tensor& a, const Tensor& b) {
  const Tensor exact = b.to(at::kDouble);
  return ((a - exact).norm() / exact.norm()).item<double>();
}

TEST(Inception, FeaturesAreTheReferences) {
  const std::string weights = shared_file("weights/inception-2015-12-05-to-mixed7a.safetensors");
  const std::string recorded = shared_file("reference/metrics.safetensors");
  if (weights.empty() || recorded.empty()) GTEST_SKIP() << "no reference files beside the checkout";
  const Safetensors reference = read_safetensors(recorded);
  const auto& tensors = reference.tensors;
  const Inception network(read_safetensors(weights), weights);
  ASSERT_EQ(network.dimensions(), (std::vector<int64_t>{768, 1280}));
  const auto a = network.features(tensors.at("a") / 127.5 - 1);
  const auto b = network.features(tensors.at("b") / 127.5 - 1);
  EXPECT_EQ(a[0].scalar_type(), at::kDouble);
  EXPECT_LT(relative_error(a[0], tensors.at("inception_768_a")), 1e-5);
  EXPECT_LT(relative_error(b[0], tensors.at("inception_768_b")), 1e-5);
  EXPECT_LT(relative_error(a[1], tensors.at("inception_1280_a")), 1e-5);
}

// The network module by module in float64, batch norm and all, as torchvision has it but for FID's
// pools.
class WrittenOut {
 public:
  explicit WrittenOut(const Safetensors& file) : file_(file) {}

  // Spatial means of Mixed_6e, Mixed_7a and Mixed_7c. x: (N, 3, H, W) in [-1, 1].
  std::vector<Tensor> features(const Tensor& images) const {
    Tensor x = (images.to(at::kDouble) + 1) / 2;
    x = at::upsample_bilinear2d(x, {299, 299}, false) * 2 - 1;
    x = basic("Conv2d_1a_3x3", x, 2);
    x = basic("Conv2d_2a_3x3", x);
    x = basic("Conv2d_2b_3x3", x, 1, {1, 1});
    x = at::max_pool2d(x, 3, 2);
    x = basic("Conv2d_3b_1x1", x);
    x = basic("Conv2d_4a_3x3", x);
    x = at::max_pool2d(x, 3, 2);
    for (const char* name : {"Mixed_5b", "Mixed_5c", "Mixed_5d"}) x = a(name, x);
    x = b("Mixed_6a", x);
    for (const char* name : {"Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"}) x = c(name, x);
    std::vector<Tensor> means = {x.mean({2, 3})};
    x = d("Mixed_7a", x);
    means.push_back(x.mean({2, 3}));
    x = e("Mixed_7b", x, average(x));
    x = e("Mixed_7c", x, at::max_pool2d(x, 3, 1, 1));
    means.push_back(x.mean({2, 3}));
    return means;
  }

 private:
  Tensor basic(const std::string& name,
               const Tensor& x,
               int64_t stride = 1,
               Shape pad = {0, 0}) const {
    const auto get = [&](const char* which) {
      return file_.tensors.at(name + which).to(at::kDouble);
    };
    const Tensor h = at::conv2d(x, get(".conv.weight"), {}, stride, pad);
    return at::relu(at::batch_norm(h,
                                   get(".bn.weight"),
                                   get(".bn.bias"),
                                   get(".bn.running_mean"),
                                   get(".bn.running_var"),
                                   /*training=*/false,
                                   0.1,
                                   0.001,
                                   false));
  }
  static Tensor average(const Tensor& x) { return at::avg_pool2d(x, 3, 1, 1, false, false); }

  Tensor a(const std::string& n, const Tensor& x) const {
    const Tensor b5 = basic(n + ".branch5x5_2", basic(n + ".branch5x5_1", x), 1, {2, 2});
    Tensor b3 = basic(n + ".branch3x3dbl_2", basic(n + ".branch3x3dbl_1", x), 1, {1, 1});
    b3 = basic(n + ".branch3x3dbl_3", b3, 1, {1, 1});
    const Tensor pool = basic(n + ".branch_pool", average(x));
    return at::cat({basic(n + ".branch1x1", x), b5, b3, pool}, 1);
  }
  Tensor b(const std::string& n, const Tensor& x) const {
    Tensor b3 = basic(n + ".branch3x3dbl_2", basic(n + ".branch3x3dbl_1", x), 1, {1, 1});
    b3 = basic(n + ".branch3x3dbl_3", b3, 2);
    return at::cat({basic(n + ".branch3x3", x, 2), b3, at::max_pool2d(x, 3, 2)}, 1);
  }
  Tensor c(const std::string& n, const Tensor& x) const {
    Tensor b7 = basic(n + ".branch7x7_2", basic(n + ".branch7x7_1", x), 1, {0, 3});
    b7 = basic(n + ".branch7x7_3", b7, 1, {3, 0});
    Tensor dbl = basic(n + ".branch7x7dbl_2", basic(n + ".branch7x7dbl_1", x), 1, {3, 0});
    dbl = basic(n + ".branch7x7dbl_3", dbl, 1, {0, 3});
    dbl = basic(n + ".branch7x7dbl_4", dbl, 1, {3, 0});
    dbl = basic(n + ".branch7x7dbl_5", dbl, 1, {0, 3});
    const Tensor pool = basic(n + ".branch_pool", average(x));
    return at::cat({basic(n + ".branch1x1", x), b7, dbl, pool}, 1);
  }
  Tensor d(const std::string& n, const Tensor& x) const {
    const Tensor b3 = basic(n + ".branch3x3_2", basic(n + ".branch3x3_1", x), 2);
    Tensor b7 = basic(n + ".branch7x7x3_2", basic(n + ".branch7x7x3_1", x), 1, {0, 3});
    b7 = basic(n + ".branch7x7x3_4", basic(n + ".branch7x7x3_3", b7, 1, {3, 0}), 2);
    return at::cat({b3, b7, at::max_pool2d(x, 3, 2)}, 1);
  }
  Tensor e(const std::string& n, const Tensor& x, const Tensor& pooled) const {
    const Tensor b3 = basic(n + ".branch3x3_1", x);
    Tensor dbl = basic(n + ".branch3x3dbl_2", basic(n + ".branch3x3dbl_1", x), 1, {1, 1});
    return at::cat({basic(n + ".branch1x1", x),
                    basic(n + ".branch3x3_2a", b3, 1, {0, 1}),
                    basic(n + ".branch3x3_2b", b3, 1, {1, 0}),
                    basic(n + ".branch3x3dbl_3a", dbl, 1, {0, 1}),
                    basic(n + ".branch3x3dbl_3b", dbl, 1, {1, 0}),
                    basic(n + ".branch_pool", pooled)},
                   1);
  }

  const Safetensors& file_;
};

// The file without these blocks.
Safetensors without(const Safetensors& file, const std::vector<std::string>& blocks) {
  Safetensors rest = file;
  for (const std::string& block : blocks) {
    std::erase_if(rest.tensors, [&](const auto& entry) { return entry.first.starts_with(block); });
  }
  return rest;
}

TEST(Inception, IsTheNetworkWrittenOutForFilesOfAllLengths) {
  Safetensors file = random_inception();
  const Tensor images = random_batch(1);
  const std::vector<Tensor> expected = WrittenOut(file).features(images);
  file.tensors["AuxLogits.fc.weight"] = at::ones({1000, 768});
  file.tensors["fc.weight"] = at::ones({1008, 2048});
  file.tensors["Conv2d_1a_3x3.bn.num_batches_tracked"] = at::ones({}, at::kLong);

  const auto expect = [&](const Safetensors& given, const std::vector<size_t>& which) {
    const Inception network(given, "file");
    const std::vector<Tensor> features = network.features(images);
    ASSERT_EQ(features.size(), which.size());
    for (size_t i = 0; i < which.size(); ++i) {
      EXPECT_EQ(features[i].sizes(), expected[which[i]].sizes());
      EXPECT_EQ(features[i].size(1), network.dimensions()[i]);
      EXPECT_LT(relative_error(features[i], expected[which[i]]), 1e-5) << which[i];
    }
  };
  expect(file, {2});
  expect(without(file, {"Mixed_7c"}), {0, 1});
  expect(without(file, {"Mixed_7c", "Mixed_7b"}), {0, 1});
  expect(without(file, {"Mixed_7c", "Mixed_7b", "Mixed_7a"}), {0});
}

// The blocks behind the reference's weights: torchvision's numbers of channels.
TEST(Inception, TakesThePublishedShapesOfItsLastBlocks) {
  const std::map<std::string, Shape> wanted = {{"1x1", {320, 0, 1, 1}},
                                               {"3x3_1", {384, 0, 1, 1}},
                                               {"3x3_2a", {384, 384, 1, 3}},
                                               {"3x3_2b", {384, 384, 3, 1}},
                                               {"3x3dbl_1", {448, 0, 1, 1}},
                                               {"3x3dbl_2", {384, 448, 3, 3}},
                                               {"3x3dbl_3a", {384, 384, 1, 3}},
                                               {"3x3dbl_3b", {384, 384, 3, 1}},
                                               {"_pool", {192, 0, 1, 1}}};
  const auto& blocks = inception_blocks();
  int64_t channels = 1280;
  for (const InceptionBlock& mixed : {blocks[10], blocks[11]}) {
    const int64_t in = channels;
    const std::vector<nets::ConvShape> found = convolutions(mixed.block, channels);
    EXPECT_EQ(found.size(), wanted.size());
    for (const auto& [name, weight] : found) {
      const std::string prefix = mixed.name + ".branch";
      ASSERT_TRUE(name.starts_with(prefix)) << name;
      Shape shape = wanted.at(name.substr(prefix.size()));
      if (shape[1] == 0) shape[1] = in;
      EXPECT_EQ(weight, shape) << name;
    }
    EXPECT_EQ(channels, 2048);
  }
}

TEST(Inception, OfFoldedBatchNormsIsTheSame) {
  const Safetensors file = random_inception("Mixed_6e");
  Safetensors folded;
  for (const auto& [name, tensor] : file.tensors) {
    if (!name.ends_with(".conv.weight")) continue;
    const std::string conv = name.substr(0, name.size() - std::string(".conv.weight").size());
    const auto norm = [&](const char* which) { return file.tensors.at(conv + ".bn." + which); };
    const Tensor factor = norm("weight") / (norm("running_var") + 0.001).sqrt();
    folded.tensors[conv + ".weight"] = tensor * factor.view({-1, 1, 1, 1});
    folded.tensors[conv + ".bias"] = norm("bias") - norm("running_mean") * factor;
  }
  const Tensor images = random_batch(2);
  const Inception whole(file, "unfolded"), short_file(folded, "folded");
  EXPECT_EQ(short_file.dimensions(), std::vector<int64_t>{768});
  EXPECT_LT(relative_error(short_file.features(images)[0], whole.features(images)[0]), 1e-5);
}

// More images than one pass takes at once, grey and beyond [-1, 1].
TEST(Inception, OfABatchIsThatOfItsImages) {
  const Inception network(random_inception("Mixed_6e"), "file");
  const Tensor images = random_batch(33, 1) * 1.5;
  const Tensor together = network.features(images)[0];
  ASSERT_EQ(together.sizes(), (Shape{33, 768}));
  for (const int64_t n : {0, 32}) {
    const Tensor alone = images.narrow(0, n, 1).clamp(-1, 1).repeat({1, 3, 1, 1});
    EXPECT_LT(relative_error(together.narrow(0, n, 1), network.features(alone)[0]), 1e-5) << n;
  }
}

TEST(Inception, NamesTheFileAndWhatIsWrongInIt) {
  const Safetensors whole = random_inception("Mixed_7a");
  const auto message = [&](auto change) {
    Safetensors file = whole;
    change(file.tensors);
    return error_of([&] { Inception(file, "x.safetensors"); });
  };
  EXPECT_EQ(message([](auto& t) { t.erase("Mixed_6e.branch1x1.conv.weight"); }),
            "x.safetensors: tensor 'Mixed_6e.branch1x1.conv.weight' is missing");
  EXPECT_EQ(message([](auto& t) { t.erase("Mixed_5b.branch_pool.bn.running_var"); }),
            "x.safetensors: tensor 'Mixed_5b.branch_pool.bn.running_var' is missing");
  EXPECT_EQ(message([](auto& t) { t["Conv2d_4a_3x3.bn.bias"] = at::ones({7}); }),
            "x.safetensors: tensor 'Conv2d_4a_3x3.bn.bias' must be 192, got 7");
  // A block is there or not; half of one is a file with a hole.
  EXPECT_EQ(message([](auto& t) { t.erase("Mixed_7a.branch3x3_2.conv.weight"); }),
            "x.safetensors: tensor 'Mixed_7a.branch3x3_2.conv.weight' is missing");
  EXPECT_EQ(message([](auto& t) {
              t = {{"features.0.weight", at::ones({64, 3, 11, 11})}};
            }),
            "x.safetensors: no Inception network: it has neither Conv2d_1a_3x3.weight nor "
            "Conv2d_1a_3x3.conv.weight");
  const Inception network(whole, "x.safetensors");
  EXPECT_EQ(error_of([&] {
              network.features(at::zeros({1, 4, 8, 8}));
            }),
            "inception: images must be N x 3 x H x W or N x 1 x H x W, got 1 x 4 x 8 x 8");
}

}  // namespace
}  // namespace eps
