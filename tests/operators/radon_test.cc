// Tomography against the closed form of a disc, and what every projection keeps.
#include <gtest/gtest.h>

#include <numbers>

#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "tests/files.h"

namespace eps {
namespace {

// The integral of 2 sqrt(r^2 - s^2) from 0 to s.
double half_disc(double s, double r) {
  const double t = std::clamp(s / r, -1.0, 1.0);
  return r * r * (t * std::sqrt(1 - t * t) + std::asin(t));
}

// Returns the mean error of the scan of a disc over its diameter. A pixel of the image holds the
// part of it that lies in the disc; a strip of the disc has the area half_disc(s + 1/2) -
// half_disc(s - 1/2).
double disc_error(int64_t side) {
  const int64_t fine = 16, angles = 18, detectors = 2 * side;
  const double radius = 0.36 * static_cast<double>(side);
  const Tensor place =
      (at::arange(side * fine, at::kDouble) + 0.5) / fine - static_cast<double>(side) / 2;
  const Tensor inside = (place.square() + place.square().unsqueeze(1)) < radius * radius;
  const Tensor disc =
      at::avg_pool2d(inside.to(at::kDouble).reshape({1, 1, side * fine, side * fine}), fine);
  const Tensor scan = radon_matrix(angles, detectors, 180, side, side)
                          .times(disc.reshape({1, -1}))
                          .reshape({angles, detectors});
  std::vector<double> wanted;
  for (int64_t j = 0; j < detectors; ++j) {
    const double s = static_cast<double>(j) - static_cast<double>(detectors - 1) / 2;
    wanted.push_back(half_disc(s + 0.5, radius) - half_disc(s - 0.5, radius));
  }
  return (scan - at::tensor(wanted, at::kDouble)).abs().mean().item<double>() / (2 * radius);
}

// Only the pixels at the edge err, which are fewer the smaller they are.
TEST(Radon, OfADiscTendsToItsClosedForm) {
  const double coarse = disc_error(32), fine = disc_error(64);
  EXPECT_LT(coarse, 3e-3);
  EXPECT_LT(fine, coarse / 2);
}

TEST(Radon, KeepsTheMassAtEveryAngle) {
  const Tensor x = Rng(1).uniform({1, 12 * 17});
  const Tensor scan = radon_matrix(31, 21, 360, 12, 17).times(x).reshape({31, 21});
  EXPECT_LT((scan.sum(1) - x.sum()).abs().max().item<double>(), 1e-11);
}

// At 0 degrees the strips are columns, from left to right; at 90 degrees rows, from the bottom up.
TEST(Radon, SumsColumnsAndRows) {
  const Tensor x = Rng(1).normal({6, 6});
  const Tensor scan = radon_matrix(2, 6, 180, 6, 6).times(x.reshape({1, -1})).reshape({2, 6});
  EXPECT_TRUE(scan[0].allclose(x.sum(0)));
  EXPECT_TRUE(scan[1].allclose(x.sum(1).flip({0})));
}

// A pixel's shadow at 45 degrees is a triangle of height sqrt(2) and base sqrt(2). The strip in its
// middle lacks two corners of height and base sqrt(1/2) - 1/2.
TEST(Radon, WeighsPixelsByTheAreaInTheStrip) {
  const Tensor scan = radon_matrix(4, 3, 180, 1, 1).times(at::ones({1, 1}, at::kDouble));
  const double corner = std::pow(std::sqrt(0.5) - 0.5, 2);
  EXPECT_TRUE(
      scan.reshape({4, 3})[1].allclose(at::tensor({corner, 1 - 2 * corner, corner}, at::kDouble)));
  EXPECT_TRUE(scan.reshape({4, 3})[0].allclose(at::tensor({0., 1., 0.}, at::kDouble)));
}

// The largest singular value by the power method; views from all sides see the mean best.
TEST(Radon, HasANormOfAboutOne) {
  for (const int64_t side : {16, 64}) {
    const Operator A = radon(60, 2 * side, 180, {1, 1, side, side});
    Tensor x = at::ones({1, 1, side, side}, at::kDouble);
    double norm = 0;
    for (int i = 0; i < 30; ++i) {
      x = x / x.norm();
      x = A->adjoint(A->apply(x));
      norm = std::sqrt(x.norm().item<double>());
    }
    EXPECT_GT(norm, 0.9);
    EXPECT_LT(norm, 1.1);
  }
}

TEST(Radon, TheDetectorsGiveTheSideOfTheImage) {
  Rng rng(1);
  for (const int64_t side : {8, 9, 64, 100}) {
    const Tensor x = at::zeros({1, 2, side, side}, at::kDouble);
    const Operator A = make_operator("radon:angles=3", x, rng);
    EXPECT_EQ(image_shape_of("radon:angles=3", A->apply(x).sizes().vec()), x.sizes().vec());
  }
  EXPECT_EQ(image_shape_of("radon:angles=3,detectors=32", {1, 1, 3, 32}), (Shape{1, 1, 32, 32}));
  for (const std::string wrong : {"0", "5.5", "3..5", "some"}) {
    const std::string spec = "radon:detectors=" + wrong;
    EXPECT_NE(error_of([&] {
                make_operator(spec, at::empty({1, 1, 8, 8}), rng);
              }).find("detectors=" + wrong),
              std::string::npos);
  }
}

// Filtered backprojection from many sides gives a disc back, but for its edge and the ripples of
// the strips.
TEST(Radon, ThePictureOfADiscIsTheDisc) {
  const Tensor place = at::arange(64, at::kDouble) - 31.5;
  const Tensor radius = (place.square() + place.square().unsqueeze(1)).sqrt();
  const Tensor disc = (radius < 20).to(at::kDouble).reshape({1, 1, 64, 64});
  for (const double span : {180.0, 360.0}) {
    const Operator A = radon(180, 91, span, {1, 1, 64, 64});
    const Tensor picture = A->format().picture(A->apply(disc))[0][0];
    EXPECT_NEAR(picture.masked_select(radius < 17).mean().item<double>(), 1, 1e-3);
    EXPECT_LT((picture - 1).masked_select(radius < 17).abs().max().item<double>(), 0.015);
    const Tensor outside = at::logical_and(radius > 23, radius < 31);
    EXPECT_LT(picture.masked_select(outside).abs().max().item<double>(), 0.015);
  }
}

}  // namespace
}  // namespace eps
