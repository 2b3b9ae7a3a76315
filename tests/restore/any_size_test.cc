// Measurements of any size, restored by a network for pictures of any size.
#include <gtest/gtest.h>

#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/math/pyramid.h"
#include "eps/restore/restore.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

class AnySize : public testing::Test {
 protected:
  AnySize() {
    nets::UNetConfig config = small_patched();
    const NetworkInput input = NetworkInput::eps_precision.with(Channel::skip);
    config.in_channels = input.channels(config.img_channels);
    network_ = {.network = nets::UNet(config),
                .preconditioning = {.kind = Preconditioning::Kind::anisotropic},
                .input = input,
                .provenance = {.tasks = {"identity"}, .sigma_y = "0.005..0.4"}};
    Rng rng(1);
    network_.network.initialise(rng);  // the linear estimate
  }
  // A smooth picture of this size, and noise of 0.1.
  std::string picture(const Shape& size) const {
    const std::string path = folder_.file("y.npy");
    const Tensor rows = at::linspace(-0.5, 0.5, size[0], at::kDouble).reshape({1, -1, 1});
    const Tensor noise = 0.1 * Rng(5).normal({3, size[0], size[1]});
    write_npy(path, (rows + noise).to(at::kFloat));
    return path;
  }
  RestorationRequest request(const std::string& path, const OperatorOptions& options) const {
    return {.input = path,
            .operator_options = options,
            .sigma_y = 0.1,
            .network = "net",
            .steps = 3,
            .options = {.samples = 2}};
  }

  const Folder folder_;
  Checkpoint network_{.network = nets::UNet(small_patched())};
};

TEST_F(AnySize, PicturesKeepTheirs) {
  const auto result = restore_measurement(request(picture({23, 38}), {.denoise = true}), network_);
  EXPECT_EQ(result.restoration.samples.sizes(), at::IntArrayRef({2, 3, 23, 38}));
  EXPECT_FALSE(result.measurement.shown);
  const auto larger = restore_measurement(request(picture({9, 13}), {.downscale = "2"}), network_);
  EXPECT_EQ(larger.restoration.mean.sizes(), at::IntArrayRef({3, 18, 26}));
}

// The image of a valid blur reaches beyond the picture; what is shown does not.
TEST_F(AnySize, BlursAreRestoredBeyondTheFrameAndShownWithinIt) {
  const auto result =
      restore_measurement(request(picture({24, 30}), {.gaussian = "0.5"}), network_);
  EXPECT_EQ(result.measurement.problem.image(), (Shape{1, 3, 28, 34}));
  EXPECT_EQ(result.report.measurements, 3 * 24 * 30);
  EXPECT_EQ(result.report.measured_share, 1);
  EXPECT_EQ(result.restoration.samples.sizes(), at::IntArrayRef({2, 3, 24, 30}));
  EXPECT_EQ(result.restoration.low.sizes(), at::IntArrayRef({3, 24, 30}));
  ASSERT_TRUE(result.measurement.shown);
  EXPECT_EQ(result.measurement.shown->top, 2);
  EXPECT_TRUE(result.warnings.empty() || result.warnings[0].find("cut") == std::string::npos);
  // The frame that is shown is that of the picture: its brightness grows downwards by as much.
  const Tensor rows = result.restoration.mean.mean(at::IntArrayRef({0, 2}));
  EXPECT_NEAR((rows[23] - rows[0]).item<double>(), 1, 0.15);
}

TEST_F(AnySize, HasItsOwnNumberOfSamples) {
  RestorationRequest asked = request(picture({12, 12}), {.denoise = true});
  asked.options.samples = 0;
  EXPECT_EQ(restore_measurement(asked, network_).report.samples, kSamples);
  asked.steps = 0;
  EXPECT_EQ(restore_measurement(asked, network_).report.steps, 20);
  asked.input = picture({260, 256});
  const auto large = restore_measurement(asked, network_);
  EXPECT_EQ(large.report.samples, kLargeSamples);
  EXPECT_EQ(large.report.steps, kLargeSteps);
}

// A pixel that is measured keeps sigma_y^2 / sigma of the noise of x_t in its pivot, which tells
// the level of the one evaluation: 20, but that of the samplers for a mask.
TEST_F(AnySize, QuickIsAtALevelOfItsOwnButForMasks) {
  const std::string file = folder_.file("mask.png");
  Tensor mask = at::full({16, 24}, 255, at::kByte);
  mask.slice(1, 10, 12).fill_(0);
  write_png(file, mask);
  for (const auto& [options, level] :
       {std::pair<OperatorOptions, double>{{.denoise = true}, 20}, {{.mask = file}, 80}}) {
    RestorationRequest quick = request(picture({16, 24}), options);
    quick.quick = true;
    quick.steps = 0;
    const auto result = restore_measurement(quick, network_);
    const double kept = 0.25 / (0.25 + 0.01);
    const Tensor rest = result.restoration.mean - kept * result.measurement.problem.y[0];
    const Tensor measured = rest.masked_select(mask == 255);
    // 5 standard errors of a deviation.
    const auto count = static_cast<double>(measured.numel());
    EXPECT_NEAR(measured.square().mean().sqrt().item<double>() / (kept * 0.01 / level),
                1,
                5 / std::sqrt(2 * count));
  }
}

// One evaluation is the mean of the posterior: for this network, which has learnt nothing, the
// linear estimate p/(p + sigma_y^2) y.
TEST_F(AnySize, QuickIsTheMeanOfOneEvaluation) {
  RestorationRequest quick = request(picture({16, 24}), {.denoise = true});
  quick.quick = true;
  quick.steps = 0;
  const auto result = restore_measurement(quick, network_);
  EXPECT_EQ(result.report.evaluations_per_sample, 1);
  EXPECT_TRUE(result.report.quick);
  EXPECT_FALSE(result.restoration.deviation.defined());
  const Tensor wanted = result.measurement.problem.y * (0.25 / (0.25 + 0.01));
  // The pivot has x_t's noise over 20 sigma_y^-2 beside y: 0.0005, five times of which is rare.
  EXPECT_LT((result.restoration.mean - wanted[0]).abs().max().item<double>(), 2.5e-3);
  quick.steps = 3;
  EXPECT_EQ(error_of([&] { restore_measurement(quick, network_); }),
            "restore: quick has one evaluation of a network for the posterior, no method and no "
            "steps");
}

// The prior mean fills a hole from pixels up to its radius away, on a grid of blocks, beside what
// the network sees: a window has all of them, or what the picture has.
TEST_F(AnySize, WindowsReachAsFarAsThePriorMeanDoes) {
  const Tensor mask = at::full({640, 480}, 255, at::kByte);
  mask.slice(0, 300, 307).slice(1, 100, 140).fill_(0);
  const std::string file = folder_.file("mask.png");
  write_png(file, mask);
  RestorationRequest asked = request(picture({640, 480}), {.mask = file});
  asked.quick = true;
  asked.steps = 0;
  asked.region = RestorationRequest::Region::holes;
  const int64_t radius = *network_.network.plan().receptive_radius();
  const Window plain = restore_measurement(asked, network_).report.windows.at(0);
  EXPECT_EQ(plain.top + plain.height, 307 + radius);
  network_.preconditioning.prior_mean = "neighbours";
  const Window wide = restore_measurement(asked, network_).report.windows.at(0);
  EXPECT_EQ(wide.top % kPyramidBlock, 0);
  EXPECT_LE(wide.top, 300 - radius - kPyramidRadius);
  EXPECT_EQ(wide.top + wide.height, 307 + radius + kPyramidRadius);
  EXPECT_EQ(wide.left, 0);
}

TEST_F(AnySize, RefusesWhatHasNone) {
  const std::string small = picture({4, 30});
  EXPECT_EQ(error_of([&] { restore_measurement(request(small, {.denoise = true}), network_); }),
            small +
                ": an image of 30 x 4 pixels (width x height); the network net takes sides of at "
                "least 8");
  const std::string flat = folder_.file("flat.npy");
  write_npy(flat, at::zeros({1, 16}, at::kFloat));
  write_npy(folder_.file("A.npy"), at::eye(16, at::kFloat));
  EXPECT_NE(error_of([&] {
              restore_measurement(request(flat, {.spec = "matrix:file=" + folder_.file("A.npy")}),
                                  network_);
            }).find("a flat measurement does not say the size of its image"),
            std::string::npos);
}

}  // namespace
}  // namespace eps
