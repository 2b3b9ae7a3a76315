// The colour filter array: which colour a pixel measures.
#include <gtest/gtest.h>

#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "tests/files.h"

namespace eps {
namespace {

TEST(Bayer, MeasuresTheColoursOfItsPattern) {
  // Channel c is constant, c + 1.
  const Tensor x = (at::arange(3, at::kDouble) + 1).reshape({1, 3, 1, 1}).expand({1, 3, 4, 6});
  const std::map<std::string, std::vector<double>> patterns = {{"rggb", {1, 2, 2, 3}},
                                                               {"bggr", {3, 2, 2, 1}},
                                                               {"grbg", {2, 1, 3, 2}},
                                                               {"gbrg", {2, 3, 1, 2}}};
  for (const auto& [pattern, colours] : patterns) {
    const Tensor y = bayer(pattern, 4, 6)->apply(x)[0][0];
    const Tensor tile = at::tensor(colours, at::kDouble).reshape({2, 2});
    EXPECT_TRUE(y.equal(tile.repeat({2, 3}))) << pattern;
  }
}

TEST(Bayer, ThePictureHasEachColourInItsChannel) {
  const Tensor y = Rng(3).normal({2, 1, 5, 6});
  const Tensor picture = bayer("rggb", 5, 6)->format().picture(y);
  ASSERT_EQ(picture.sizes(), at::IntArrayRef({2, 3, 5, 6}));
  EXPECT_TRUE(picture.sum(1, true).equal(y));
  EXPECT_EQ(picture[1][0][2][2].item<double>(), y[1][0][2][2].item<double>());
  EXPECT_EQ(picture[1][1][2][3].item<double>(), y[1][0][2][3].item<double>());
  EXPECT_EQ(picture[1][2][1][3].item<double>(), y[1][0][1][3].item<double>());
  EXPECT_EQ(picture[1][2][2][2].item<double>(), 0);
}

TEST(Bayer, TheImageOfAMosaicHasThreeChannels) {
  EXPECT_EQ(image_shape_of("bayer:pattern=grbg", {2, 1, 4, 6}), (Shape{2, 3, 4, 6}));
  EXPECT_EQ(error_of([] {
              image_shape_of("bayer", {2, 3, 4, 6});
            }),
            "bayer: a measurement is N x 1 x H x W, got 2 x 3 x 4 x 6");
}

TEST(Bayer, RefusesOtherColours) {
  EXPECT_EQ(error_of([] { bayer("rgbx", 4, 4); }),
            "bayer: a pattern such as rggb is wanted, got rgbx");
  EXPECT_EQ(error_of([] { bayer("rgb", 4, 4); }),
            "bayer: a pattern such as rggb is wanted, got rgb");
}

}  // namespace
}  // namespace eps
