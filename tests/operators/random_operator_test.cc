// Which specs are drawn at random, against the draws of several seeds.
#include <gtest/gtest.h>

#include "eps/operators/task.h"
#include "tests/files.h"

namespace eps {
namespace {

// Five seeds: a fair choice of two agrees by chance once in sixteen, and the seeds are fixed.
bool seeds_differ(const std::string& spec) {
  const Tensor x = Rng(9).normal({1, channels_of(spec, 3), 16, 16});
  const auto drawn = [&](uint64_t seed) {
    Rng rng(seed);
    return make_operator(spec, x, rng)->apply(x);
  };
  for (uint64_t seed = 1; seed < 5; ++seed)
    if (!at::equal(drawn(0), drawn(seed))) return true;
  return false;
}

TEST(RandomOperator, IsWhatTwoSeedsDrawDifferently) {
  std::vector<std::string> specs = {
      "inpaint_random:missing=0",
      "inpaint_random:missing=1",
      "inpaint_random:missing=0..1",
      "inpaint_box:height=3,width=25%",
      "inpaint_box:height=25%..75%,width=2",
      "inpaint_box:height=3,width=3,position=random",
      "inpaint_box:height=3,width=3,position=random,top=1",
      "inpaint_box:height=3,width=3,position=random,top=1,left=2",
      "blur_gaussian:std=0.5..1,size=5",
      "blur_motion:length=3..5,angle=0",
      "blur_motion:length=5,angle=0..90",
      "blur_pool:std=0.5..1,size=5,factor=2",
      "fourier_lines:acceleration=1",
      "hadamard:keep=1",
      "blur_gaussian:size=5 | inpaint_random",
      "inpaint_box | super_resolution:factor=2",
      "super_resolution:factor=2 + inpaint_random",
      "super_resolution:factor=2 + grey",
  };
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) specs.push_back(entry.example);
  for (const auto& spec : specs) EXPECT_EQ(is_random(spec), seeds_differ(spec)) << spec;
}

// By the formula of Kac and Rice: half of the lines of a standard normal field, as wide as asked.
// The share of one image of 256 x 256 varies; that of 16 has a standard error of some 2%, and a
// band on a grid of pixels is a little narrower than its width.
TEST(RandomOperator, ScratchesCoverTheShareThatIsAsked) {
  for (const auto& [spec, share] : {std::pair{"inpaint_scratches:width=3,missing=0.1", 0.1},
                                    {"inpaint_scratches:width=2,missing=0.05", 0.05},
                                    {"inpaint_scratches:width=6,missing=0.2", 0.2}}) {
    Rng rng(4, 16);
    const Tensor ones = at::ones({16, 1, 256, 256}, at::kDouble);
    const Tensor missing = 1 - make_operator(spec, ones, rng)->apply(ones);
    EXPECT_NEAR(missing.mean().item<double>() / share, 1, 0.15) << spec;
    // Lines are thin: hardly a pixel of them has only holes within their width.
    const Tensor open = 1 - at::max_pool2d(1 - missing, {15, 15}, {1, 1}, {7, 7});
    EXPECT_LT(open.mean().item<double>(), 0.001 * share) << spec;
  }
}

TEST(RandomOperator, IsNotSoughtInTheNamesOfFiles) {
  EXPECT_FALSE(is_random("inpaint_mask:file=../a..b.png"));
  EXPECT_FALSE(is_random("matrix:file=../0..1.npy"));
  EXPECT_FALSE(is_random("soft_mask:file=../0..1.npy"));
  EXPECT_TRUE(is_random("matrix:rows=5"));
}

TEST(RandomOperator, OfAnUnknownNameIsAnErrorThatSuggestsAnother) {
  EXPECT_EQ(error_of([] { is_random("inpaint_bx"); }),
            "unknown operator \"inpaint_bx\" (did you mean \"inpaint_box\"?)");
}

}  // namespace
}  // namespace eps
