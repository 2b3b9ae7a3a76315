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
                             OperatorOptions operator_options,
                             bool stated = true,
                             const std::string& border = "circular") const {
    if (!operator_options.kernel.empty() || !operator_options.gaussian.empty())
      operator_options.border = border;
    const Tensor face =
        from_uint8(read_image(EPS_SOURCE_DIR "/models/faces64-images/06.png")).to(at::kDouble);
    const Tensor y = make(face);
    const Tensor noise = Rng(7).normal(y.sizes().vec());
    write_png(picture_, (y * 127.5 + 127.5 + kNoise * noise).round().clamp(0, 255).to(at::kByte));
    RestorationRequest request{.input = picture_,
                               .operator_options = operator_options,
                               .network = "faces64-eps",
                               .steps = 10,
                               .options = {.samples = 2}};
    if (stated) request.sigma_y = kNoise * kGreyLevel;
    return restore_measurement(request, network()).report;
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
                {.kernel = file_of(streak())}));
  fits(restored([](const Tensor& x) { return convolve(x, bend(), Border::circular); },
                {.kernel = file_of(bend())}));
  fits(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::circular); },
                {.gaussian = "1.5"}));
  fits(restored(means_of_blocks, {.downscale = "4"}));
  const std::string mask = folder_.file("mask.png");
  write_png(mask, 255 * (Rng(2).uniform({kPixels, kPixels}) < 0.4).to(at::kByte));
  fits(restored(same, {.mask = mask}));
}

TEST_F(ForeignMeasurement, WithAnotherBorderIsNamed) {
  finds(restored([](const Tensor& x) { return convolve(x, streak(), Border::zero); },
                 {.kernel = file_of(streak())}),
        "did not wrap around");
  finds(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::replicate); },
                 {.gaussian = "1.5"}),
        "did not wrap around");
}

// What lies beyond the frame is unknown unless it is said: the border of the picture is then left
// out, whatever a program made up there.
TEST_F(ForeignMeasurement, WithAnyBorderFitsWhereNoneIsClaimed) {
  fits(restored([](const Tensor& x) { return convolve(x, bend(), Border::zero); },
                {.kernel = file_of(bend())},
                true,
                ""));
  fits(restored([](const Tensor& x) { return convolve(x, bell(1.5), Border::replicate); },
                {.gaussian = "1.5"},
                true,
                "replicate"));
}

// The default of cv2.filter2D, with the noise estimated: chi2 is 1 by choice.
TEST_F(ForeignMeasurement, WithAReflectedBorderIsNamedWhereTheNoiseIsEstimated) {
  const RestorationReport report =
      restored([](const Tensor& x) { return convolve(x, streak(), Border::reflect101); },
               {.kernel = file_of(streak())},
               false);
  finds(report, "did not wrap around");
  EXPECT_NEAR(report.chi2, 1, 0.25);
  EXPECT_EQ(report.verdict(),
            "the noise was chosen so that chi2 = 1; this says nothing of the operator");
  EXPECT_FALSE(report.fits());
}

TEST_F(ForeignMeasurement, WithACorrelatedKernelIsNamed) {
  const auto make = [](const Tensor& x) { return correlate(x, bend(), Border::circular); };
  finds(restored(make, {.kernel = file_of(bend())}), "its kernel is flipped");
  fits(restored(make, {.kernel = file_of(bend().flip({0, 1}))}));
}

TEST_F(ForeignMeasurement, WithANarrowerKernelIsNamed) {
  const auto make = [](const Tensor& x) { return convolve(x, bell(1.5), Border::circular); };
  finds(restored(make, {.gaussian = "2.5"}), "too wide");
}

// What the residual does not show (docs/commands.md): a blur in linear light is explained by
// another face.
TEST_F(ForeignMeasurement, InLinearLightIsNotCaught) {
  const auto make = [](const Tensor& x) {
    return to_srgb(convolve(2 * to_linear(x) - 1, bell(1.5), Border::circular).add(1).div(2));
  };
  fits(restored(make, {.gaussian = "1.5"}));
}

}  // namespace
}  // namespace eps
