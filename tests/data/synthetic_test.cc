// Synthetic data sets: a pure function of their fields.
#include "eps/data/dataset.h"
#include "tests/files.h"

namespace eps {
namespace {

Dataset read(const std::string& source, const DatasetOptions& options = {}) {
  return read_dataset({source}, options);
}

TEST(Synthetic, AnImageDoesNotDependOnHowManyThereAre) {
  for (const std::string kind : {"shapes", "textures", "mixed"}) {
    const Dataset few = read("synthetic:size=16,count=5,kind=" + kind);
    const Dataset many = read("synthetic:size=16,count=12,kind=" + kind);
    EXPECT_TRUE(identical(few.images, many.images.narrow(0, 0, 5)));
    EXPECT_TRUE(identical(few.labels, many.labels.narrow(0, 0, 5)));
    EXPECT_FALSE(many.images[0].equal(many.images[6]));  // of the same class
  }
}

TEST(Synthetic, TheSeedDecides) {
  const Dataset a = read("synthetic:size=16,count=4,seed=1");
  EXPECT_TRUE(identical(a.images, read("synthetic:size=16,count=4,seed=1").images));
  EXPECT_FALSE(a.images.equal(read("synthetic:size=16,count=4,seed=2").images));
}

TEST(Synthetic, SizeAndChannelsComeFromTheSpecOrTheOptions) {
  const Shape plain = {2, 3, 64, 64}, grey = {2, 1, 24, 24}, options = {2, 1, 20, 20};
  EXPECT_EQ(read("synthetic:count=2").images.sizes().vec(), plain);
  EXPECT_EQ(read("synthetic:count=2,size=24,channels=1").images.sizes().vec(), grey);
  EXPECT_EQ(read("synthetic:count=2", {.size = 20, .channels = 1}).images.sizes().vec(), options);
}

TEST(Synthetic, ClassesTakeTurns) {
  const auto labels = [](const std::string& fields) {
    const Tensor l = read("synthetic:size=8,count=7," + fields).labels;
    return std::vector<int64_t>(l.data_ptr<int64_t>(), l.data_ptr<int64_t>() + l.numel());
  };
  using Labels = std::vector<int64_t>;
  EXPECT_EQ(labels("kind=shapes"), (Labels{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(labels("kind=textures,classes=2"), (Labels{0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(labels("kind=mixed"), (Labels{0, 3, 1, 4, 2, 5, 0}));
  EXPECT_EQ(labels("classes=3"), (Labels{0, 2, 1, 2, 0, 2, 1}));
  EXPECT_EQ(read("synthetic:size=8,count=2").label_dim, 6);
  EXPECT_FALSE(read("synthetic:size=8,count=2,classes=0").labels.defined());
}

TEST(Synthetic, ImagesAreTheSameWithAndWithoutLabels) {
  EXPECT_TRUE(identical(read("synthetic:size=8,count=6,classes=0").images,
                        read("synthetic:size=8,count=6").images));
}

// For a spectrum 1/f^a the energy of differences of neighbours, over the variance, falls with a.
TEST(Synthetic, TexturesGetSmootherWithTheClass) {
  const Dataset set = read("synthetic:kind=textures,count=60,size=32");
  const Tensor x = set.images.to(at::kDouble);
  const Tensor steps = (x.narrow(3, 1, 31) - x.narrow(3, 0, 31)).square().mean({1, 2, 3});
  const Tensor variance = (x - x.mean({2, 3}, true)).square().mean({1, 2, 3});
  double last = 2;  // that of white noise
  for (int64_t label = 0; label < 3; ++label) {
    const double roughness = (steps / variance).index({set.labels == label}).mean().item<double>();
    EXPECT_LT(roughness, 0.7 * last);
    last = roughness;
  }
}

// Only pixels on a border are mixed: most of the interior varies by less than the shading, 2 x 255
// x 0.5 / size between neighbours, and some borders jump.
TEST(Synthetic, ShapesHaveEdgesAndSmoothInsides) {
  const Tensor x = read("synthetic:kind=shapes,count=30").images.to(at::kDouble);
  const Tensor jumps = (x.narrow(3, 1, 63) - x.narrow(3, 0, 63)).abs().amax(1);
  const double smooth = (jumps < 6).to(at::kDouble).mean().item<double>();
  EXPECT_GT(smooth, 0.85);
  EXPECT_GT((jumps > 40).sum().item<int64_t>(), 30 * 10);
}

TEST(Synthetic, WrongFieldsAreNamed) {
  EXPECT_EQ(error_of([] { read("synthetic:kind=cats"); }),
            "synthetic: kind=cats is none of shapes, textures, mixed");
  EXPECT_EQ(error_of([] { read("synthetic:channels=2"); }),
            "synthetic: channels=2 is neither 1 nor 3");
  EXPECT_EQ(error_of([] { read("synthetic:kind=shapes,classes=4"); }),
            "synthetic: classes=4 is outside [0, 3]");
  EXPECT_EQ(error_of([] { read("synthetic:classes=1"); }),
            "synthetic: kind=mixed has at least 2 classes, got 1");
  EXPECT_EQ(error_of([] { read("synthetic:count=0"); }),
            "synthetic: count=0 is outside [1, 10000000]");
}

}  // namespace
}  // namespace eps
