// Noise that one number does not describe, from files and numbers.
#include "eps/restore/noise_model.h"

#include <gtest/gtest.h>

#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/restore/restoration_report.h"
#include "tests/files.h"

namespace eps {
namespace {

class NoiseModelFiles : public testing::Test {
 protected:
  const Folder folder_;
  const Tensor y_ = Rng(1).normal({1, 3, 8, 8});
  const std::string file_ = folder_.file("noise.npy");
};

TEST_F(NoiseModelFiles, DeviationsAreThoseOfTheFile) {
  const Tensor map = Rng(2).uniform({8, 8}) + 0.1;
  write_npy(file_, map);
  EXPECT_TRUE(deviations({.map = file_}, y_, 0.05).equal(map.reshape({1, 1, 8, 8})));
  write_npy(file_, at::stack({map, 2 * map, 3 * map}));
  EXPECT_TRUE(deviations({.map = file_}, y_, 0.05)[0][2].equal(3 * map));
  const std::string picture = folder_.file("noise.png");
  write_png(picture, at::full({1, 8, 8}, 5, at::kByte));
  EXPECT_NEAR(deviations({.map = picture}, y_, 0.05).max().item<double>(), 5 * kGreyLevel, 1e-15);
}

TEST_F(NoiseModelFiles, ChannelsHaveTheirOwn) {
  const Problem white = whitened({.channels = {0.1, 0.2, 0.3}}, {identity(), y_});
  // W y / sigma is y over its deviation.
  const Tensor found = white.y / white.sigma_y;
  EXPECT_LT((found[0][2] - y_[0][2] / 0.3).abs().max().item<double>(), 1e-12);
  EXPECT_EQ(
      error_of([&] {
        whitened({.channels = {0.1, 0.2}}, {identity(), y_});
      }),
      "noise: 2 deviations for a measurement of 1 x 3 x 8 x 8; wanted 3, one for each channel");
}

// The whitened noise of a model has the deviation 1 in every entry, and no correlation: 5 standard
// errors at 2,000 draws.
TEST_F(NoiseModelFiles, DrawsWhatIsWhitened) {
  const int64_t draws = 2000;
  const Tensor spectrum = Rng(3).uniform({8, 5}) + 0.05;
  write_npy(file_, (spectrum + spectrum.flip({0}).roll(1, 0)) / 2);
  const std::string map = folder_.file("map.npy");
  write_npy(map, Rng(2).uniform({8, 8}) + 0.1);
  const Tensor clean = at::zeros({1, 1, 8, 8}, at::kDouble);
  for (const NoiseModel& noise : {NoiseModel{.map = map},
                                  NoiseModel{.spectrum = file_},
                                  NoiseModel{.growth = 0.01},
                                  NoiseModel{.channels = {0.2}}}) {
    SCOPED_TRACE(noise.words());
    Rng rng(5, draws);
    const Tensor drawn =
        draw_noise(noise, clean.expand({draws, -1, -1, -1}).contiguous(), 0.1, rng);
    Problem problem{identity(), drawn, scalar(0.1)};
    // The deviation of noise that grows is that of the signal, not of its noisy copy.
    if (noise.growth) problem.y = clean.expand_as(drawn);
    const Problem white = whitened(noise, problem);
    const Tensor unit = (noise.growth ? white.A->apply(drawn) : white.y).flatten(1) / white.sigma_y;
    const Tensor covariance = at::matmul(unit.t(), unit) / static_cast<double>(draws);
    const Tensor off = covariance - at::eye(64, at::kDouble);
    EXPECT_LT(off.abs().max().item<double>(), 5 * std::sqrt(2.0 / draws));
  }
}

TEST_F(NoiseModelFiles, WrongFilesAreNamed) {
  write_npy(file_, at::zeros({8, 8}));
  EXPECT_EQ(error_of([&] { deviations({.map = file_}, y_, 1); }),
            file_ + ": deviations must be > 0, found 0");
  EXPECT_EQ(error_of([&] {
              whitened({.spectrum = file_}, {identity(), y_});
            }),
            file_ + ": powers must be > 0, found 0");
  write_npy(file_, at::ones({8}));
  EXPECT_EQ(error_of([&] { deviations({.map = file_}, y_, 1); }),
            file_ + ": deviations are H x W or C x H x W, got 8");
  write_npy(file_, at::ones({4, 8}));
  EXPECT_EQ(error_of([&] {
              whitened({.spectrum = file_}, {identity(), y_});
            }),
            file_ + ": a spectrum of 8 x 8 (fft2) or 5 (rfft2) values is wanted, got 4 x 8");
  write_npy(file_, at::ones({6, 8}));
  EXPECT_EQ(error_of([&] { deviations({.map = file_}, y_, 1); }),
            file_ +
                ": deviations for 1 channel of 8 x 6 pixels (width x height); the measurement has "
                "3 of 8 x 8");
  Tensor map = at::ones({8, 8});
  map[3][4] = NAN;
  write_npy(file_, map);
  EXPECT_EQ(error_of([&] { deviations({.map = file_}, y_, 1); }),
            file_ + ": deviations must be > 0, found nan");
  write_npy(file_, at::full({8, 8}, INFINITY));
  EXPECT_EQ(error_of([&] { deviations({.map = file_}, y_, 1); }),
            file_ + ": every deviation is infinite");
}

// K-space and flat measurements have no map of pixels, nor a spectrum.
TEST_F(NoiseModelFiles, AreForImages) {
  write_npy(file_, at::ones({8, 8}));
  for (const Tensor& y : {at::zeros({1, 20}, at::kDouble), at::zeros({1, 1, 8, 8, 2}, at::kDouble)})
    for (const NoiseModel& noise :
         {NoiseModel{.map = file_}, NoiseModel{.spectrum = file_}, NoiseModel{.growth = 0.1}})
      EXPECT_NE(error_of([&] {
                  whitened(noise, {identity(), y});
                }).find("is for measurements that are images; this one is 1 x "),
                std::string::npos);
}

// A picture of the frame of which the inside is used has a map of its frame.
TEST_F(NoiseModelFiles, MapsAreCutAsTheirPictureIs) {
  const Cut cut{.top = 1, .left = 2, .height = 6, .width = 5, .full_height = 8, .full_width = 8};
  const Tensor map = Rng(2).uniform({8, 8}) + 0.1, y = cut.of(y_);
  write_npy(file_, map);
  const Tensor wanted = map.slice(0, 1, 7).slice(1, 2, 7).reshape({1, 1, 6, 5});
  EXPECT_TRUE(deviations({.map = file_}, y, 1, cut).equal(wanted));
  write_npy(file_, wanted[0][0].contiguous());
  EXPECT_TRUE(deviations({.map = file_}, y, 1, cut).equal(wanted));
  write_npy(file_, map);
  EXPECT_NE(error_of([&] {
              whitened({.spectrum = file_}, {identity(), y}, cut);
            }).find("a spectrum of the whole frame, 8 x 8, but only 6 x 5 pixels are used"),
            std::string::npos);
}

}  // namespace
}  // namespace eps
