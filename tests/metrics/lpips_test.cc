// LPIPS: the reference's numbers, VGG16 written out, and what it says of wrong files and images.
#include "eps/metrics/lpips.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "eps/metrics/evaluation.h"
#include "tests/files.h"
#include "tests/shared.h"

namespace eps {
namespace {

// One convolution of a trunk and where it stands.
struct Place {
  int64_t number, out, kernel;
};
const std::vector<Place> kAlex = {{0, 64, 11}, {3, 192, 5}, {6, 384, 3}, {8, 256, 3}, {10, 256, 3}};
const std::vector<Place> kVgg = {{0, 64, 3},
                                 {2, 64, 3},
                                 {5, 128, 3},
                                 {7, 128, 3},
                                 {10, 256, 3},
                                 {12, 256, 3},
                                 {14, 256, 3},
                                 {17, 512, 3},
                                 {19, 512, 3},
                                 {21, 512, 3},
                                 {24, 512, 3},
                                 {26, 512, 3},
                                 {28, 512, 3}};

std::string module(int64_t number) { return "features." + std::to_string(number); }

// Random weights that keep the size of features; the lins (1, C, 1, 1) are positive.
Safetensors random_file(const std::vector<Place>& trunk, const Shape& features) {
  Rng rng(1);
  Safetensors file;
  int64_t in = 3;
  for (const auto& [number, out, kernel] : trunk) {
    const double scale = std::sqrt(2.0 / static_cast<double>(in * kernel * kernel));
    const Tensor weight = rng.normal({out, in, kernel, kernel}, at::kFloat);
    file.tensors[module(number) + ".weight"] = weight * scale;
    file.tensors[module(number) + ".bias"] = rng.normal({out}, at::kFloat) * 0.1;
    in = out;
  }
  for (size_t l = 0; l < features.size(); ++l) {
    file.tensors["lin" + std::to_string(l) + ".weight"] =
        rng.uniform({1, features[l], 1, 1}, at::kFloat);
  }
  return file;
}

Safetensors random_alex() { return random_file(kAlex, {64, 192, 384, 256, 256}); }
Safetensors random_vgg() { return random_file(kVgg, {64, 128, 256, 512, 512}); }

Tensor random_images(int64_t count, int64_t side, uint64_t seed, int64_t channels = 3) {
  Rng rng(seed);
  return rng.uniform({count, channels, side, side}, at::kFloat) * 2 - 1;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

// The published file of a network and answers recorded from the reference code.
void expect_reference(const std::string& net) {
  const std::string weights = shared_file("weights/lpips-" + net + ".safetensors");
  const std::string recorded = shared_file("reference/metrics.safetensors");
  if (weights.empty() || recorded.empty()) GTEST_SKIP() << "no reference files beside the checkout";
  const Safetensors reference = read_safetensors(recorded);
  const auto image = [&](const char* name) { return reference.tensors.at(name) / 127.5 - 1; };
  const Lpips lpips(read_safetensors(weights), weights);
  EXPECT_EQ(lpips.net(), net);
  const Tensor distance = lpips(image("a"), image("b"));
  EXPECT_EQ(distance.scalar_type(), at::kDouble);
  EXPECT_LT(largest_difference(distance, reference.tensors.at("lpips_" + net)), 1e-6);
}

TEST(Lpips, WithAlexNetIsTheReferences) { expect_reference("alex"); }
TEST(Lpips, WithSqueezeNetIsTheReferences) { expect_reference("squeeze"); }

// The features of VGG16 in float64: two, two, three, three and three convolutions, a pool between.
std::vector<Tensor> vgg_features(const Safetensors& file, const Tensor& images) {
  const auto weight = [&](int64_t number, const char* which) {
    return file.tensors.at(module(number) + which).to(at::kDouble);
  };
  const Tensor shift = at::tensor({-.030, -.088, -.188}, at::kDouble).view({3, 1, 1});
  const Tensor scale = at::tensor({.458, .448, .450}, at::kDouble).view({3, 1, 1});
  Tensor x = (images.to(at::kDouble) - shift) / scale;
  std::vector<Tensor> features;
  const std::vector<std::vector<int64_t>> stages = {
      {0, 2}, {5, 7}, {10, 12, 14}, {17, 19, 21}, {24, 26, 28}};
  for (const auto& stage : stages) {
    if (!features.empty()) x = at::max_pool2d(x, 2, 2);
    for (const int64_t number : stage) {
      x = at::relu(at::conv2d(x, weight(number, ".weight"), weight(number, ".bias"), 1, 1));
    }
    features.push_back(x);
  }
  return features;
}

// Layer by layer: with all lins but one at zero, only that feature is in the distance.
TEST(Lpips, WithVgg16IsItsFormulaLayerByLayer) {
  const Safetensors file = random_vgg();
  const Tensor a = random_images(1, 32, 2), b = random_images(1, 32, 3);
  const std::vector<Tensor> of_a = vgg_features(file, a), of_b = vgg_features(file, b);
  double sum = 0;
  for (size_t l = 0; l < 5; ++l) {
    Safetensors one = file;
    for (size_t other = 0; other < 5; ++other) {
      Tensor& lin = one.tensors["lin" + std::to_string(other) + ".weight"];
      if (other != l) lin = at::zeros_like(lin);
    }
    const auto unit = [](const Tensor& f) { return f / (f.norm(2, {1}, true) + 1e-10); };
    const Tensor lin = file.tensors.at("lin" + std::to_string(l) + ".weight").to(at::kDouble);
    const Tensor difference = unit(of_a[l]) - unit(of_b[l]);
    const double expected = at::conv2d(difference.square(), lin).mean().item<double>();
    const Lpips lpips(one, "vgg");
    EXPECT_EQ(lpips.net(), "vgg");
    EXPECT_NEAR(lpips(a, b).item<double>(), expected, 1e-5 * expected) << l;
    sum += expected;
  }
  EXPECT_NEAR(Lpips(file, "vgg")(a, b).item<double>(), sum, 1e-5 * sum);
}

TEST(Lpips, IsASymmetricDistance) {
  const Lpips lpips(random_alex(), "alex");
  const Tensor a = random_images(3, 64, 2), b = random_images(3, 64, 3);
  EXPECT_TRUE(lpips(a, a).equal(at::zeros({3}, at::kDouble)));
  EXPECT_TRUE(lpips(a, b).equal(lpips(b, a)));
  EXPECT_GT(lpips(a, b).min().item<double>(), 0);
}

// More than one pass takes at once.
TEST(Lpips, OfABatchIsThatOfItsImages) {
  const Lpips lpips(random_alex(), "alex");
  const Tensor a = random_images(35, 64, 2), b = random_images(35, 64, 3);
  const Tensor together = lpips(a, b);
  ASSERT_EQ(together.sizes(), Shape{35});
  for (const int64_t n : {0, 31, 32, 34}) {
    const Tensor alone = lpips(a.narrow(0, n, 1), b.narrow(0, n, 1));
    EXPECT_LT(largest_difference(together[n], alone[0]), 1e-6) << n;
  }
}

TEST(Lpips, RepeatsGreyImagesAndClips) {
  const Lpips lpips(random_alex(), "alex");
  const Tensor a = random_images(2, 64, 2, 1) * 1.5, b = random_images(2, 64, 3, 1);
  const Tensor clipped = a.clamp(-1, 1).repeat({1, 3, 1, 1});
  EXPECT_TRUE(lpips(a, b).equal(lpips(clipped, b.repeat({1, 3, 1, 1}))));
}

// torchvision's file with its classifier, and the lins' own names.
TEST(Lpips, ReadsThePublishedNames) {
  const Safetensors file = random_alex();
  Safetensors published;
  for (const auto& [name, tensor] : file.tensors) {
    const bool is_lin = name.starts_with("lin");
    published.tensors[is_lin ? name.substr(0, 4) + ".model.1.weight" : name] = tensor;
  }
  published.tensors["classifier.1.weight"] = at::ones({8, 8});
  const Tensor a = random_images(1, 64, 2), b = random_images(1, 64, 3);
  EXPECT_TRUE(Lpips(published, "a")(a, b).equal(Lpips(file, "a")(a, b)));
}

TEST(Lpips, NamesTheFileAndWhatIsWrongInIt) {
  const auto message = [](auto change) {
    Safetensors file = random_alex();
    change(file.tensors);
    return error_of([&] { Lpips(file, "x.safetensors"); });
  };
  EXPECT_EQ(message([](auto& t) { t.erase("features.3.weight"); }),
            "x.safetensors: tensor 'features.3.weight' is missing");
  EXPECT_EQ(message([](auto& t) { t["features.8.bias"] = at::ones({7}); }),
            "x.safetensors: tensor 'features.8.bias' must be 256, got 7");
  EXPECT_EQ(message([](auto& t) { t.erase("lin4.weight"); }),
            "x.safetensors: tensor 'lin4.weight' is missing");
  EXPECT_EQ(message([](auto& t) {
              t["lin1.model.1.weight"] = at::ones({1, 64, 1, 1});
            }),
            "x.safetensors: tensor 'lin1.model.1.weight' must be 1 x 192 x 1 x 1, "
            "got 1 x 64 x 1 x 1");
  EXPECT_EQ(message([](auto& t) {
              t = {{"Mixed_5b.branch1x1.weight", at::ones({1})}};
            }),
            "x.safetensors: no LPIPS network: it has no convolutions of AlexNet, VGG16 or "
            "SqueezeNet 1.1 (features.0.weight, ...)");
}

// Of the smallest images the last feature is one pixel; of smaller ones there is none.
TEST(Lpips, SaysWhichImagesAreTooSmall) {
  for (const LpipsTrunk& trunk : lpips_trunks()) {
    Safetensors file;
    int64_t channels = 3;
    for (const nets::FeatureBlock& block : trunk.net) {
      for (const nets::ConvShape& conv : convolutions(block, channels)) {
        file.tensors[conv.name + ".weight"] = at::ones(conv.weight);
        file.tensors[conv.name + ".bias"] = at::ones({conv.weight[0]});
      }
    }
    const Tensor x = at::zeros({1, 3, trunk.smallest, trunk.smallest});
    const std::vector<Tensor> features = nets::tapped_features(trunk.net, file.tensors, x);
    EXPECT_EQ(features.back().sizes().slice(2), (Shape{1, 1})) << trunk.name;
    const Tensor smaller = at::zeros({1, 3, trunk.smallest - 1, trunk.smallest});
    EXPECT_THROW(nets::tapped_features(trunk.net, file.tensors, smaller), c10::Error) << trunk.name;
  }
  const Lpips lpips(random_alex(), "alex");
  const Tensor small = random_images(1, 30, 2);
  EXPECT_EQ(
      error_of([&] { lpips(small, small); }),
      "lpips: with alex images must be at least 31 pixels wide and high, got 1 x 3 x 30 x 30");
  EXPECT_EQ(error_of([&] { lpips(small, random_images(1, 40, 2)); }),
            "lpips: images are 1 x 3 x 30 x 30, the truth is 1 x 3 x 40 x 40");
  const Tensor two = at::zeros({1, 2, 64, 64});
  EXPECT_EQ(error_of([&] { lpips(two, two); }),
            "lpips: images must be N x 3 x H x W or N x 1 x H x W, got 1 x 2 x 64 x 64");
}

TEST(Lpips, OfSamplesIsTheMeanOfTheirDistances) {
  const Lpips lpips(random_alex(), "alex");
  const Tensor truth = random_images(3, 40, 1);
  const Tensor samples = at::stack({random_images(3, 40, 2), random_images(3, 40, 3)});
  const Tensor wanted = (lpips(samples[0], truth) + lpips(samples[1], truth)) / 2;
  EXPECT_TRUE(at::allclose(lpips.mean_distance(samples, truth), wanted, 1e-9, 0));
}

// The other metrics of images that are too small are not lost.
TEST(Lpips, IsAbsentOfImagesThatAreTooSmall) {
  MetricNetworks networks;
  networks.lpips = {Lpips(random_alex(), "alex")};
  const Tensor truth = random_images(2, 16, 1);
  const Evaluation e = evaluate(truth.unsqueeze(0), truth, {.networks = &networks});
  EXPECT_EQ(e.absent.at("lpips"), "needs images of 31 pixels or more a side");
  EXPECT_EQ(e.absent.at("lpips_vgg"), "needs LPIPS weights");
  EXPECT_TRUE(e.metrics.count("psnr"));
}

}  // namespace
}  // namespace eps
