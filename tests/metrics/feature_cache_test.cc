// The cache of features: what is kept is read, and nothing else is believed.
#include "eps/metrics/feature_cache.h"

#include <gtest/gtest.h>

#include "tests/files.h"
#include "tests/metrics/inception_network.h"

namespace eps {
namespace {

const Inception& network() {
  static const Inception network(random_inception("Mixed_6e"), "random");
  return network;
}

Tensor image(uint64_t seed) {
  Rng rng(seed);
  return rng.uniform({1, 3, 8, 8}, at::kFloat);
}

// Does the cache answer from its one file? It does if other numbers in there come out.
bool answers_from_file(const FeatureCache& cache, const std::string& path, const Tensor& images) {
  const Safetensors right = read_safetensors(path);
  const Tensor other = at::full({1, 768}, 7, at::kDouble);
  write_safetensors(path, {{{"features_768", other}}, {}});
  const bool answers = cache.features(network(), "n", images)[0].equal(other);
  write_safetensors(path, right);
  return answers;
}

TEST(FeatureCache, ReadsWhatItHasComputed) {
  const Folder folder;
  const FeatureCache cache(folder.file("made/here"));
  const Tensor expected = network().features(image(1))[0];
  EXPECT_TRUE(identical(cache.features(network(), "n", image(1))[0], expected));
  const std::filesystem::directory_iterator files(folder.file("made/here"));
  const std::string path = files->path().string();
  EXPECT_EQ(path.size(),
            folder.file("made/here/").size() + 32 + std::string(".safetensors").size());
  EXPECT_TRUE(answers_from_file(cache, path, image(1)));
  EXPECT_TRUE(identical(cache.features(network(), "n", image(1))[0], expected));
  EXPECT_FALSE(answers_from_file(cache, path, image(2)));
}

// Each of these is something else, and has a file of its own.
TEST(FeatureCache, TellsNetworksShapesAndNumbersApart) {
  const Folder folder;
  const FeatureCache cache(folder.file("."));
  const Tensor x = image(1);
  Tensor close = x.clone();
  close[0][2][7][7] += 1e-6;
  for (const Tensor& images : {x, close, x.view({1, 3, 4, 16}), x.narrow(2, 0, 4)}) {
    cache.features(network(), "n", images);
  }
  cache.features(network(), "another", x);
  EXPECT_EQ(folder.names().size(), 5u);
  // The same numbers, otherwise laid out.
  cache.features(network(), "n", x.to(at::kDouble));
  cache.features(network(), "n", x.transpose(2, 3).contiguous().transpose(2, 3));
  EXPECT_EQ(folder.names().size(), 5u);
}

TEST(FeatureCache, ComputesAgainWhatIsBroken) {
  const Folder folder;
  const FeatureCache cache(folder.file("."));
  const Tensor expected = cache.features(network(), "n", image(1))[0];
  const std::string path = folder.file(folder.names().at(0));
  const std::string right = get_bytes(path);
  const auto of = [](const Tensor& tensor, const std::string& name = "features_768") {
    return Safetensors{{{name, tensor}}, {}};
  };
  const std::vector<std::function<void()>> harms = {
      [&] { put_bytes(path, ""); },
      [&] { put_bytes(path, right.substr(0, right.size() / 2)); },
      [&] { put_bytes(path, "no safetensors at all"); },
      [&] {
        write_safetensors(path, of(at::zeros({1, 768}, at::kDouble), "others"));
      },
      [&] {
        write_safetensors(path, of(at::zeros({2, 768}, at::kDouble)));
      },
      [&] {
        write_safetensors(path, of(at::zeros({1, 768})));
      }};
  for (size_t i = 0; i < harms.size(); ++i) {
    harms[i]();
    EXPECT_TRUE(identical(cache.features(network(), "n", image(1))[0], expected)) << i;
    EXPECT_EQ(get_bytes(path), right) << i;
  }
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(FeatureCache, WithoutAFolderKeepsNothing) {
  const FeatureCache cache("");
  const Tensor expected = network().features(image(1))[0];
  EXPECT_TRUE(identical(cache.features(network(), "n", image(1))[0], expected));
}

TEST(FeatureCache, SaysWhereItCannotKeepFeatures) {
  const Folder folder;
  put_bytes(folder.file("taken"), "a file");
  const FeatureCache cache(folder.file("taken"));
  EXPECT_NE(error_of([&] { cache.features(network(), "n", image(1)); }).find("taken"),
            std::string::npos);
}

}  // namespace
}  // namespace eps
