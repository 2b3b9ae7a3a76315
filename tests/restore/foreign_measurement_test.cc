// Measurements as other programs make them, restored by the network that comes with eps: those made
// by the operator that was declared have no finding, the others are caught and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/operators/border.h"
#include "eps/restore/restore.h"
#include "tests/files.h"

namespace eps {
namespace {

constexpr int64_t kPixels = 64;

// Returns the place in [0, 64) of a pixel that may lie outside, or -1 for none.
int64_t inside(int64_t i, Border border) {
  if (i >= 0 && i < kPixels) return i;
  if (border == Border::circular) return (i + kPixels) % kPixels;
  if (border == Border::reflect101) return i < 0 ? -i : 2 * kPixels - 2 - i;
  return border == Border::replicate ? std::clamp<int64_t>(i, 0, kPixels - 1) : -1;
}

// Correlates each channel of (3, 64, 64) with a kernel of odd size by sums over pixels, as image
// libraries do: y[i] = sum_j k[j] x[i + j - size/2]. A kernel turned by 180 degrees convolves.
Tensor correlate(const Tensor& x, const Tensor& kernel, Border border) {
  const int64_t reach = kernel.size(0) / 2;
  Tensor y = at::zeros_like(x);
  for (int64_t a = 0; a < kernel.size(0); ++a)
    for (int64_t b = 0; b < kernel.size(1); ++b) {
      const double weight = kernel[a][b].item<double>();
      if (weight == 0) continue;
      std::vector<int64_t> rows, columns;
      std::vector<double> row_kept, column_kept;
      for (int64_t i = 0; i < kPixels; ++i) {
        const int64_t row = inside(i + a - reach, border), column = inside(i + b - reach, border);
        rows.push_back(std::max<int64_t>(row, 0));
        columns.push_back(std::max<int64_t>(column, 0));
        row_kept.push_back(row >= 0);
        column_kept.push_back(column >= 0);
      }
      const Tensor kept =
          at::tensor(row_kept, at::kDouble).unsqueeze(1) * at::tensor(column_kept, at::kDouble);
      // Outside lies black: -1.
      const Tensor moved = x.index_select(1, at::tensor(rows, at::kLong))
                               .index_select(2, at::tensor(columns, at::kLong));
      y += weight * (moved * kept - (1 - kept));
    }
  return y;
}

Tensor convolve(const Tensor& x, const Tensor& kernel, Border border) {
  return correlate(x, kernel.flip({0, 1}), border);
}

Tensor bell(double deviation) {
  const Tensor t = at::arange(-6, 7, at::kDouble);
  const Tensor line = (-t.square() / (2 * deviation * deviation)).exp();
  return line.unsqueeze(1) * line / (line.sum() * line.sum());
}

// A line of 9 pixels along the diagonal.
Tensor streak() { return at::eye(9, at::kDouble) / 9; }

// A camera that moves, slower and slower, round a bend.
Tensor bend() {
  Tensor kernel = at::zeros({11, 11}, at::kDouble);
  for (int k = 0; k < 60; ++k) {
    const double s = k / 59.0, reach = 4.5 * s;
    const auto row = std::lround(5 + reach * std::sin(2.2 * s)),
               column = std::lround(5 + reach * std::cos(2.2 * s));
    kernel[row][column] += 1 - 0.7 * s;
  }
  return kernel / kernel.sum();
}

// Light that fades down and to the right, a product of a row and a column.
Tensor trail() {
  const Tensor line = (-at::arange(7, at::kDouble) / 2).exp();
  return line.unsqueeze(1) * line / (line.sum() * line.sum());
}

// sRGB to linear light and back, of values in [-1, 1].
Tensor to_linear(const Tensor& x) {
  const Tensor u = (x + 1) / 2;
  return at::where(u <= 0.04045, u / 12.92, ((u + 0.055) / 1.055).pow(2.4));
}
Tensor to_srgb(const Tensor& light) {
  const Tensor u =
      at::where(light <= 0.0031308, light * 12.92, 1.055 * light.clamp_min(0).pow(1 / 2.4) - 0.055);
  return 2 * u - 1;
}

Tensor means_of_blocks(const Tensor& x) {
  return x.view({3, kPixels / 4, 4, kPixels / 4, 4}).mean({2, 4});
}

// A restoration of what `make` makes of a face, with white noise and in 8 bits.
class ForeignMeasurement : public testing::Test {
 protected:
  static const Checkpoint& network() {
    static const Checkpoint model =
        read_checkpoint(EPS_SOURCE_DIR "/models/faces64-eps.safetensors");
    return model;
  }
  RestorationReport restored(const std::function<Tensor(const Tensor& face)>& make,
                             const OperatorOptions& operator_options,
                             bool stated = true) const {
    RestorationRequest request = request_for(make);
    request.operator_options = operator_options;
    if (stated) request.sigma_y = kNoise * kGreyLevel;
    return restore_measurement(request, network()).report;
  }
  // Writes the picture with noise of these grey levels.
  RestorationRequest request_for(const std::function<Tensor(const Tensor& face)>& make,
                                 const Tensor& levels = at::scalar_tensor(kNoise,
                                                                          at::kDouble)) const {
    const Tensor face =
        from_uint8(read_image(EPS_SOURCE_DIR "/models/faces64-images/06.png")).to(at::kDouble);
    const Tensor y = make(face);
    const Tensor noise = Rng(7).normal(y.sizes().vec());
    write_png(picture_, (y * 127.5 + 127.5 + levels * noise).round().clamp(0, 255).to(at::kByte));
    return {.input = picture_, .network = "faces64-eps", .steps = 10, .options = {.samples = 2}};
  }
  std::string file_of(const Tensor& kernel) const {
    write_npy(kernel_, kernel);
    return kernel_;
  }
  static void fits(const RestorationReport& report) {
    EXPECT_TRUE(report.fits()) << report.chi2 << ' '
                               << (report.findings.empty() ? report.verdict() : report.findings[0]);
  }
  static void finds(const RestorationReport& report, const std::string& words) {
    ASSERT_FALSE(report.findings.empty()) << report.residual.largest();
    EXPECT_NE(report.findings[0].find(words), std::string::npos) << report.findings[0];
  }

  static constexpr double kNoise = 6.375;
  const Folder folder_;
  const std::string picture_ = folder_.file("y.png"), kernel_ = folder_.file("kernel.npy");
};

TEST_F(ForeignMeasurement, ThatIsAsDeclaredHasNoFinding) {
  const auto same = [](const Tensor& x) { return x; };
  fits(restored([](const Tensor& x) { return convolve(x, streak(), Border::circular); },
                {.kernel = file_of(streak()), .border = "circular"}));
  fits(restored([](const Tensor& x) { return convolve(x, bend(), Border::circular); },
                {.kernel = file_of(bend()), .border = "circular"}));
  fits(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::circular); },
                {.gaussian = "1.5", .border = "circular"}));
  fits(restored(means_of_blocks, {.downscale = "4"}));
  const std::string mask = folder_.file("mask.png");
  write_png(mask, 255 * (Rng(2).uniform({kPixels, kPixels}) < 0.4).to(at::kByte));
  fits(restored(same, {.mask = mask}));
}

TEST_F(ForeignMeasurement, WithAnotherBorderIsNamed) {
  const RestorationReport black =
      restored([](const Tensor& x) { return convolve(x, bend(), Border::zero); },
               {.kernel = file_of(bend()), .border = "circular"});
  finds(black, "did not wrap around");
  EXPECT_TRUE(black.kernel_trial.has_value());
  finds(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::replicate); },
                 {.gaussian = "1.5", .border = "circular"}),
        "did not wrap around");
  finds(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::circular); },
                 {.gaussian = "1.5", .border = "reflect101"}),
        "another than reflect101");
}

// What lies beyond the frame is unknown unless it is said: the border of the picture is then left
// out, whatever a program made up there.
TEST_F(ForeignMeasurement, WithAnyBorderFitsWhereNoneIsClaimed) {
  const RestorationReport report =
      restored([](const Tensor& x) { return convolve(x, bend(), Border::zero); },
               {.kernel = file_of(bend())});
  fits(report);
  ASSERT_TRUE(report.kernel_trial.has_value());
  EXPECT_TRUE(report.kernel_trial->is_given());
  EXPECT_NE(report.kernel.find("flipped it fits less well"), std::string::npos) << report.kernel;
  fits(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::replicate); },
                {.gaussian = "1.5", .border = "replicate"}));
}

// Black outside is -1, not 0.
TEST_F(ForeignMeasurement, WithABlackBorderFitsWhereItIsSaid) {
  const auto make = [](const Tensor& x) { return convolve(x, bell(1.5), Border::zero); };
  fits(restored(make, {.gaussian = "1.5", .border = "black"}));
  finds(restored(make, {.gaussian = "1.5", .border = "zero"}), "another than zero");
}

// The default of cv2.filter2D, with the noise estimated: chi2 is 1 by choice.
TEST_F(ForeignMeasurement, WithAReflectedBorderIsNamedWhereTheNoiseIsEstimated) {
  const RestorationReport report =
      restored([](const Tensor& x) { return convolve(x, streak(), Border::reflect101); },
               {.kernel = file_of(streak()), .border = "circular"},
               false);
  finds(report, "did not wrap around");
  EXPECT_NEAR(report.chi2, 1, 0.25);
  EXPECT_EQ(report.verdict(),
            "the noise was fitted by chi2 itself, which so says nothing of the operator");
  EXPECT_FALSE(report.fits());
}

// By default nothing is claimed of the border: of the samples of either kernel the residual is like
// noise, and only larger noise tells them apart.
TEST_F(ForeignMeasurement, WithACorrelatedKernelIsNamed) {
  finds(restored([](const Tensor& x) { return correlate(x, bend(), Border::reflect101); },
                 {.kernel = file_of(bend())}),
        "its kernel is flipped");
  finds(restored([](const Tensor& x) { return correlate(x, trail(), Border::reflect101); },
                 {.kernel = file_of(trail()), .border = "reflect101"}),
        "its kernel is flipped");
}

TEST_F(ForeignMeasurement, WithANarrowerKernelIsNamed) {
  const auto make = [](const Tensor& x) { return convolve(x, bell(1.5), Border::reflect101); };
  finds(restored(make, {.gaussian = "2.5"}), "too wide");
  finds(restored(make, {.gaussian = "2.5", .border = "reflect101"}), "too wide");
}

// Four times the noise on the right as on the left, said by a map.
TEST_F(ForeignMeasurement, WithANoiseMapFits) {
  const std::string map = folder_.file("map.npy");
  const Tensor levels = at::linspace(2.5, 10, kPixels, at::kDouble).expand({kPixels, kPixels});
  write_npy(map, (levels * kGreyLevel).contiguous());
  RestorationRequest request = request_for([](const Tensor& x) { return x; }, levels);
  request.noise.map = map;
  request.operator_options = {.spec = "identity"};
  fits(restore_measurement(request, network()).report);
}

// What the residual does not show (docs/commands.md): a blur in linear light is explained by
// another face.
TEST_F(ForeignMeasurement, InLinearLightIsNotCaught) {
  const auto make = [](const Tensor& x) {
    return to_srgb(convolve(2 * to_linear(x) - 1, bell(1.5), Border::circular).add(1).div(2));
  };
  fits(restored(make, {.gaussian = "1.5", .border = "circular"}));
  fits(restored(make, {.gaussian = "1.5"}));
}

// A method for priors has an error of its own, of which nothing is said as if the operator had it.
TEST_F(ForeignMeasurement, IsNotJudgedByAMethodForPriors) {
  RestorationRequest request = request_for(means_of_blocks);
  request.sigma_y = kNoise * kGreyLevel;
  request.operator_options = {.downscale = "4"};
  request.network = "faces64-prior";
  request.method = "pigdm";
  request.steps = 3;
  const Checkpoint prior = read_checkpoint(EPS_SOURCE_DIR "/models/faces64-prior.safetensors");
  const RestorationReport report = restore_measurement(request, prior).report;
  EXPECT_TRUE(report.approximate && report.findings.empty());
  EXPECT_FALSE(report.residual.statistics.empty());
  if (!report.misfit.empty()) {
    EXPECT_NE(report.misfit.find("error of the method"), std::string::npos);
  }
}

}  // namespace
}  // namespace eps
