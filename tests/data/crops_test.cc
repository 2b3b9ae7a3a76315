// Random crops: what they show of their pictures, and how often.
#include "eps/data/crops.h"

#include <cmath>
#include <numeric>

#include "tests/data/image_files.h"
#include "tests/data/mapped_pictures.h"

namespace eps {
namespace {

Tensor crops_of(const Crops& crops, const std::vector<int64_t>& places, uint64_t seed = 0) {
  Rng rng(seed, std::vector<uint64_t>(places.begin(), places.end()));
  return crops.draw(places, rng, at::kCPU).images;
}

std::vector<int64_t> all_places(const Crops& crops) {
  std::vector<int64_t> places(static_cast<size_t>(crops.size()));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// The same crop again and again, each time with numbers of its own.
Tensor many_of(const Crops& crops, int64_t place, int64_t count) {
  Rng rng(1, count);
  return crops.draw(std::vector<int64_t>(static_cast<size_t>(count), place), rng, at::kCPU).images;
}

// Images in units of bytes.
Tensor levels(const Tensor& images) { return (images.to(at::kDouble) + 1) * 127.5; }

TEST(Crops, ShowThePixelsWhereTheyLie) {
  const Pictures pictures = mapped_pictures({{20, 9}, {8, 8}, {13, 30}});
  const Crops crops(pictures, {.side = 8});
  EXPECT_EQ(crops.image_shape(), (Shape{3, 8, 8}));
  EXPECT_EQ(crops.pictures(), 3);
  EXPECT_EQ(crops.size(), 2 + 1 + 3);
  const Tensor drawn = to_uint8(crops_of(crops, all_places(crops)));
  const Numbers wanted = {0, 0, 1, 2, 2, 2};  // pictures of the places
  for (int64_t i = 0; i < crops.size(); ++i) {
    const auto top = drawn[i][0][0][0].item<int64_t>(), left = drawn[i][1][0][0].item<int64_t>();
    const auto number = drawn[i][2][0][0].item<int64_t>();
    EXPECT_EQ(number, wanted[static_cast<size_t>(i)]);
    const Tensor picture = pictures.picture(number);
    ASSERT_LE(top + 8, picture.size(1));
    ASSERT_LE(left + 8, picture.size(2));
    EXPECT_TRUE(identical(drawn[i], picture.narrow(1, top, 8).narrow(2, left, 8).contiguous()));
  }
}

// Places are disjoint crops, and corners are uniform over all whole pixels: 9 x 6 of them, with a
// chi-square of 53 degrees of freedom.
TEST(Crops, AreUniformOverTheirPictures) {
  const Crops crops(mapped_pictures({{12, 9}}), {.side = 4});
  EXPECT_EQ(crops.size(), 6);
  const int64_t n = 5400;
  const Tensor corner = to_uint8(many_of(crops, 0, n)).slice(2, 0, 1).slice(3, 0, 1).to(at::kLong);
  const Tensor index = (corner.select(1, 0) * 6 + corner.select(1, 1)).flatten();
  const Tensor counts = at::bincount(index, {}, 54).to(at::kDouble);
  ASSERT_EQ(counts.numel(), 54);
  const double chi2 = ((counts - n / 54.0).square() / (n / 54.0)).sum().item<double>();
  EXPECT_NEAR(chi2, 53, 5 * std::sqrt(2 * 53.0));
}

// The definition, one weighted mean at a time.
double reduced_pixel(const Tensor& channel, double row, double column, double r) {
  const auto lanczos = [](double x) {
    const auto sinc = [](double z) {
      const double a = std::acos(-1.0) * z;
      return z == 0 ? 1 : std::sin(a) / a;
    };
    return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
  };
  double sum = 0, total = 0;
  for (int64_t i = 0; i < channel.size(0); ++i)
    for (int64_t j = 0; j < channel.size(1); ++j) {
      const double weight = lanczos((static_cast<double>(i) + 0.5 - row) / r) *
                            lanczos((static_cast<double>(j) + 0.5 - column) / r);
      sum += weight * channel[i][j].item<double>();
      total += weight;
    }
  return sum / total;
}

TEST(Crops, AReducedPixelIsTheMeanOfItsDefinition) {
  Pictures pictures = mapped_pictures({{26, 19}, {11, 40}});
  pictures.pixels.copy_(Rng(3).uniform(pictures.pixels.sizes().vec()).mul(200).add(28));
  const CropOptions options{.side = 6, .reduce = 3};
  const Crops crops(pictures, options);
  const std::vector<int64_t> places = all_places(crops);
  const Tensor drawn = levels(crops_of(crops, places));
  const Tensor u = Rng(0, crops.size()).uniform({crops.size(), 4});
  for (int64_t i = 0; i < crops.size(); ++i) {
    const Tensor picture = pictures.picture(i < 12 ? 0 : 1).to(at::kDouble);
    const auto height = static_cast<double>(picture.size(1));
    const auto width = static_cast<double>(picture.size(2));
    const double r = 1 + u[i][0].item<double>() * (std::min(3.0, std::min(height, width) / 6) - 1);
    const double top = std::floor(u[i][1].item<double>() * (std::floor(height - 6 * r) + 1));
    const double left = std::floor(u[i][2].item<double>() * (std::floor(width - 6 * r) + 1));
    for (const auto& [y, x] : {std::pair{0, 0}, {5, 5}, {0, 5}, {2, 3}})
      EXPECT_NEAR(drawn[i][1][y][x].item<double>(),
                  reduced_pixel(picture[1], top + (y + 0.5) * r, left + (x + 0.5) * r, r),
                  1e-3)
          << i;
  }
}

// A ramp of one level a pixel becomes a ramp of r levels a pixel, but for the filter's first moment
// (at most 0.02 pixels) and where the filter meets the frame.
TEST(Crops, ARampStaysARampOfAnotherSlope) {
  const Crops crops(mapped_pictures({{220, 240}}), {.side = 32, .reduce = 4});
  const int64_t n = 300;
  const Tensor inner = levels(many_of(crops, 0, n)).slice(2, 3, 29).slice(3, 3, 29);
  for (const int64_t axis : {2, 3}) {
    const Tensor ramp =
        inner.select(1, axis - 2);  // rows grow with the row, columns with the column
    const Tensor steps = ramp.diff(1, axis - 1);
    const Tensor slope = steps.mean({1, 2}, true);
    EXPECT_LT((steps - slope).abs().max().item<double>(), 0.05);
    EXPECT_LT(ramp.diff(1, 4 - axis).abs().max().item<double>(), 1e-3);
    // r is uniform in [1, 4].
    EXPECT_NEAR(slope.mean().item<double>(), 2.5, 5 * std::sqrt(9 / 12.0 / n));
    EXPECT_NEAR(slope.var().item<double>(), 0.75, 5 * 0.75 * std::sqrt(0.8 / n));
    EXPECT_GT(slope.min().item<double>(), 0.99);
    EXPECT_LT(slope.max().item<double>(), 4.01);
  }
}

TEST(Crops, ReduceNoMoreThanThePictureAllows) {
  const Crops crops(mapped_pictures({{20, 90}, {16, 16}}), {.side = 16, .reduce = 4});
  const Tensor wide = levels(many_of(crops, 0, 200));
  const Tensor slope = (wide.select(3, 12) - wide.select(3, 3)).select(1, 1).mean(1) / 9;
  EXPECT_LT(slope.max().item<double>(), 1.26);
  EXPECT_GT(slope.max().item<double>(), 1.2);
  // The only region of the second picture is all of it.
  const Tensor whole = levels(many_of(crops, crops.size() - 1, 3));
  EXPECT_LT((whole - mapped(16, 16, 1)).abs().max().item<double>(), 1e-3);
}

TEST(Crops, DependOnTheirOwnNumbersAlone) {
  for (const double reduce : {1.0, 2.5}) {
    const Crops crops(mapped_pictures({{40, 50}, {70, 31}}),
                      {.side = 12, .reduce = reduce, .transpose = true});
    const std::vector<int64_t> places = {5, 0, 9, 9, 2};
    const Tensor together = crops_of(crops, places);
    for (size_t i = 0; i < places.size(); ++i)
      EXPECT_TRUE(identical(crops_of(crops, {places[i]}), together.slice(0, i, i + 1)));
    EXPECT_TRUE(identical(together[2], together[3]));
    EXPECT_FALSE(crops_of(crops, places, 1).equal(together));
  }
}

// Transposition changes no crop but half of them, and these by exchanging rows and columns.
TEST(Crops, HalfOfThemAreTransposed) {
  const Pictures pictures = mapped_pictures({{40, 50}});
  const int64_t n = 400;
  const Tensor upright = many_of(Crops(pictures, {.side = 12, .reduce = 2}), 0, n);
  const Tensor either =
      many_of(Crops(pictures, {.side = 12, .reduce = 2, .transpose = true}), 0, n);
  const Tensor same = (either == upright).all(3).all(2).all(1);
  const Tensor exchanged = (either == upright.transpose(2, 3)).all(3).all(2).all(1);
  EXPECT_TRUE(same.logical_or(exchanged).all().item<bool>());
  EXPECT_NEAR(same.sum().item<double>(), n / 2.0, 5 * std::sqrt(n / 4.0));
}

TEST(Crops, WrongOptionsAreNamed) {
  const Pictures pictures = mapped_pictures({{20, 90}, {7, 400}});
  EXPECT_EQ(Crops(pictures, {.side = 16}).size(), 5);  // none of the second picture
  EXPECT_EQ(error_of([&] { Crops(pictures, {.side = 21}); }),
            "test: a crop of 21 x 21 fits into none of 2 pictures");
  EXPECT_EQ(error_of([&] { Crops(pictures, {.side = 0}); }),
            "crops: the side must be at least 1, got 0");
  EXPECT_EQ(error_of([&] { Crops(pictures, {.side = 8, .reduce = 0.5}); }),
            "crops: reduce must be at least 1, got 0.5");
}

}  // namespace
}  // namespace eps
