// eps restore, as a user calls it: noise that is not one number, borders, and the part of a picture
// that is used.
#include "tests/cli/restore_program.h"
#include "tests/image_bytes.h"

namespace eps {
namespace {

class RestoreNoise : public RestoreProgram {
 protected:
  // Runs, expects success, and returns what was printed.
  std::string done(const std::string& rest) const {
    remove_tree(out_);
    const Outcome outcome = run(rest);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
  }
  static bool has(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  }
  static void near(const Tensor& found, const Tensor& wanted) {
    ASSERT_EQ(found.sizes(), wanted.sizes());
    EXPECT_LT((found.to(at::kDouble) - wanted.to(at::kDouble)).abs().max().item<double>(), 1e-6);
  }
  double sigma() const { return words()["noise"]["sigma"].get<double>(); }
  // The measurement of identity, weighted by sigma over the deviation of each pixel.
  void is_weighted(const Tensor& deviation) const {
    const double wanted = deviation.pow(-2).mean().rsqrt().item<double>();
    EXPECT_NEAR(sigma(), wanted, 1e-6);
    near(array("measurement"), y_ * wanted / deviation);
  }

  const Tensor y_ = read_npy(image_).to(at::kDouble);
  const std::string file_ = folder_.file("noise.npy"), kernel_ = folder_.file("kernel.npy");
};

TEST_F(RestoreNoise, TakesAMap) {
  const Tensor map = (0.02 + 0.1 * Rng(4).uniform({8, 8})).to(at::kFloat);
  write_npy(file_, map);
  const std::string output = done(image_ + " --operator identity --noise-map " + file_);
  EXPECT_TRUE(has(output, "by the map " + file_)) << output;
  is_weighted(map.to(at::kDouble).expand({3, 8, 8}));
  EXPECT_EQ(words()["noise"]["model"], "by the map " + file_);
  const std::string picture = folder_.file("noise.png");
  write_png(picture, at::full({8, 8}, 5, at::kByte));
  done(image_ + " --operator identity --noise-map " + picture);
  EXPECT_NEAR(sigma(), 5 / 127.5, 1e-9);
}

TEST_F(RestoreNoise, TakesDeviationsOfChannels) {
  done(image_ + " --operator identity --noise 5,10,20");
  const Tensor levels = at::tensor({5.0, 10.0, 20.0}, at::kDouble) / 127.5;
  is_weighted(levels.view({3, 1, 1}).expand({3, 8, 8}));
  done(image_ + " --operator identity --noise sigma=0.1,0.2,0.3");
  is_weighted(at::tensor({0.1, 0.2, 0.3}, at::kDouble).view({3, 1, 1}).expand({3, 8, 8}));
}

TEST_F(RestoreNoise, TakesNoiseThatGrows) {
  const std::string output = done(image_ + " --operator identity --noise 5 --noise-growth 0.5");
  EXPECT_TRUE(has(output, "growing with the signal")) << output;
  // In grey levels from 0 at black, the variance is 25 + 0.5 v.
  const Tensor level = (y_ + 1) * 127.5;
  is_weighted((25 + 0.5 * level).sqrt() / 127.5);
}

TEST_F(RestoreNoise, TakesASpectrum) {
  write_npy(file_, at::full({8, 8}, 0.01, at::kFloat));
  done(image_ + " --operator identity --noise-spectrum " + file_);
  EXPECT_NEAR(sigma(), 0.1, 1e-6);
  near(array("measurement"), y_);  // white after all
  write_npy(file_, at::full({8, 5}, 0.01, at::kFloat));
  done(image_ + " --operator identity --noise-spectrum " + file_);
  EXPECT_NEAR(sigma(), 0.1, 1e-6);
}

TEST_F(RestoreNoise, RefusesStatementsThatDoNotFit) {
  const std::string identity = image_ + " --operator identity";
  write_npy(file_, at::ones({8, 8}, at::kFloat));
  says(run(identity + " --noise 6 --noise-map " + file_),
       "--noise 6 and --noise-map " + file_ + ": one statement of the noise is wanted");
  says(run(identity + " --noise-spectrum " + file_ + " --noise-map " + file_),
       "--noise-map " + file_ + " and --noise-spectrum " + file_ + ": one statement");
  says(run(identity + " --noise 3,4,5 --noise-growth 0.5"), "--noise 3,4,5: one deviation");
  says(run(identity + " --noise-growth 0.5"), "--noise-growth 0.5: --noise is wanted, too");
  says(run(identity + " --noise 5 --noise-growth sigma=0.1"),
       "--noise-growth sigma=0.1: a number > 0 is wanted, in grey levels squared");
  says(run(identity + " --noise 5,6"), "noise: 2 deviations for a measurement of 1 x 3 x 8 x 8");
  const std::string flat = folder_.file("flat.npy"), matrix = folder_.file("matrix.npy");
  write_npy(matrix, Rng(4).normal({20, 192}) / 14);
  write_npy(flat, Rng(5).normal({20}));
  for (const char* option : {"--noise-map ", "--noise-spectrum "})
    says(run(flat + " --operator matrix:file=" + matrix + " " + option + file_),
         file_ + ": is for measurements that are images; this one is 1 x 20");
  write_npy(flat, at::zeros({1, 8, 8, 2}, at::kFloat));
  says(run(flat + " --operator fourier_lines:acceleration=1,center=1 --noise-spectrum " + file_),
       file_ + ": is for measurements that are images");
  write_npy(file_, at::ones({6, 7}, at::kFloat));
  says(run(identity + " --noise-map " + file_),
       file_ +
           ": deviations for 1 channel of 7 x 6 pixels (width x height); the measurement has 3 of "
           "8 x 8");
  write_npy(file_, at::full({8, 8}, std::nan(""), at::kFloat));
  says(run(identity + " --noise-map " + file_), file_ + ": deviations must be > 0, found nan");
}

// A picture of full size loses what the kernel carries beyond the frame; a measurement of the
// inside is taken whole.
TEST_F(RestoreNoise, UsesTheInsideOfABlurredPicture) {
  write_npy(kernel_, at::full({3, 3}, 1.0 / 9, at::kFloat));
  const Tensor inside = y_.slice(1, 1, 7).slice(2, 1, 7);
  std::string output = done(image_ + " --noise 6 --kernel " + kernel_);
  EXPECT_TRUE(has(output, "6 x 6 of its pixels (56%) are used")) << output;
  near(array("measurement"), inside);
  EXPECT_EQ(words()["measurements"], 3 * 36);
  const Tensor samples = array("samples");
  const std::string cut = folder_.file("cut.npy");
  write_npy(cut, inside.to(at::kFloat).contiguous());
  output = done(cut + " --noise 6 --kernel " + kernel_);
  EXPECT_FALSE(has(output, "pixels (")) << output;
  near(array("samples"), samples);
  // The map of the frame is cut alike; a spectrum cannot be.
  const Tensor map = (0.02 + 0.1 * Rng(4).uniform({8, 8})).to(at::kFloat);
  write_npy(file_, map);
  done(image_ + " --kernel " + kernel_ + " --noise-map " + file_);
  const Tensor deviation = map.slice(0, 1, 7).slice(1, 1, 7).to(at::kDouble).expand({3, 6, 6});
  const double wanted = deviation.pow(-2).mean().rsqrt().item<double>();
  near(array("measurement"), inside * wanted / deviation);
  remove_tree(out_);
  says(run(image_ + " --kernel " + kernel_ + " --noise-spectrum " + file_),
       file_ + ": a spectrum of the whole frame, 8 x 8, but only 6 x 6 pixels are used");
  done(image_ + " --kernel " + kernel_ + " --border circular --noise-spectrum " + file_);
}

TEST_F(RestoreNoise, RefusesAKernelThatLeavesNextToNothing) {
  write_npy(kernel_, at::full({7, 7}, 1.0 / 49, at::kFloat));
  says(run(picture_ + " --noise 6 --kernel " + kernel_),
       "leaves 2 x 2 of 8 x 8 pixels (width x height) that nothing beyond the frame reaches, less "
       "than a quarter");
  done(picture_ + " --noise 6 --border reflect --kernel " + kernel_);
}

TEST_F(RestoreNoise, UsesTheInsideAlsoOfAnOperatorThatNamesNoBorder) {
  const std::string spec = " --noise 6 --operator blur_gaussian:std=0.5,size=3";
  const std::string output = done(image_ + spec);
  EXPECT_TRUE(has(output, "size=3,border=valid")) << output;
  EXPECT_EQ(array("measurement").size(1), 6);
  done(image_ + spec + ",border=circular");
  EXPECT_EQ(array("measurement").size(1), 8);
  done(image_ + spec + " --simulate");
  EXPECT_EQ(array("measurement").size(1), 8);
  // A chain is taken as it is written.
  const std::string chain = " --noise 6 --operator 'blur_gaussian:std=0.5,size=3 | grey'";
  remove_tree(out_);
  says(run(image_ + chain), "gives 8 x 8 pixels (width x height) in 1 channel");
}

// Black lies outside: y + 1 = A (x + 1), pixel by pixel.
TEST_F(RestoreNoise, TakesABlackBorder) {
  const Tensor kernel = at::tensor({0.5, 0.3, 0.2}, at::kDouble);
  write_npy(kernel_, kernel.view({1, 3}).to(at::kFloat));
  Tensor y = at::zeros_like(y_), inside = at::zeros({8}, at::kDouble);
  for (int64_t j = 0; j < 8; ++j)
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t from = j - k + 1;
      const bool in = from >= 0 && from < 8;
      y.select(2, j) += kernel[k] * (in ? y_.select(2, from) : at::full({3, 8}, -1, at::kDouble));
      if (in) inside[j] += kernel[k];
    }
  const std::string blurred = folder_.file("blurred.npy");
  write_npy(blurred, y.to(at::kFloat));
  const std::string output = done(blurred + " --noise 6 --border black --kernel " + kernel_);
  EXPECT_TRUE(has(output, "border=zero, black outside")) << output;
  // What is left is A x with zeros outside.
  near(array("measurement"), y + (1 - inside));
  remove_tree(out_);
  says(run(picture_ + " --noise 6 --border blck --gaussian 0.5"), "blck");
}

TEST_F(RestoreNoise, TakesDisksAndReductionsAndBorders) {
  EXPECT_TRUE(has(done(image_ + " --noise 6 --disk 1"), "blur_disk:radius=1,border=valid"));
  EXPECT_EQ(array("measurement").size(1), 6);
  for (const char* border : {"reflect101", "circular"}) {
    const std::string output = done(image_ + " --noise 6 --disk 1 --border " + border);
    EXPECT_TRUE(has(output, std::string("border=") + border)) << output;
    near(array("measurement"), y_);
  }
  const std::string small = folder_.file("small.npy");
  write_npy(small, y_.slice(1, 0, 4).slice(2, 0, 4).to(at::kFloat).contiguous());
  EXPECT_TRUE(
      has(done(small + " --noise 6 --downscale 2,bicubic"), "downscale:factor=2,filter=bicubic"));
  EXPECT_EQ(array("samples").size(3), 8);
  remove_tree(out_);
  for (const char* wrong : {"2,", "2,bicubic,antialias=0", "2,filter=box"})
    says(run(small + " --noise 6 --downscale " + wrong),
         std::string("downscale ") + wrong + ": K or K,FILTER is wanted");
}

TEST_F(RestoreNoise, SaysHowItTakesAKernel) {
  write_npy(kernel_, at::tensor({0.6, 0.3, 0.1}, at::kFloat).view({1, 3}));
  const std::string rest = picture_ + " --noise 6 --kernel " + kernel_;
  EXPECT_TRUE(has(done(rest), "kernel: convolved as it is; flip it if"));
  EXPECT_TRUE(has(done(rest + " --flip-kernel"), "kernel: turned by 180 degrees, then convolved"));
  write_npy(kernel_, at::tensor({0.3, 0.4, 0.3}, at::kFloat).view({1, 3}));
  EXPECT_FALSE(has(done(rest), "kernel: "));
}

TEST_F(RestoreNoise, WarnsOfKSpaceThatIsNotCentredAndOfAlpha) {
  const Tensor k = at::fft_fft2(
      1 + read_npy(grey_).to(at::kDouble).view({1, 1, 8, 8}), c10::nullopt, {{2, 3}}, "ortho");
  write_npy(file_, at::view_as_real(k).contiguous());
  const std::string rest = file_ + " --noise 6 --operator fourier_lines:acceleration=1,center=1";
  EXPECT_TRUE(has(done(rest + " --centred"), "declared as centred, but"));
  EXPECT_FALSE(has(done(rest), "centred"));
  // Two pixels are transparent, which another mask does not say.
  std::string rows;
  for (int row = 0; row < 8; ++row) {
    rows += '\0';
    for (int column = 0; column < 8; ++column)
      rows += "\x40\x80\x60" + std::string(1, row == 0 && column < 2 ? '\0' : '\xff');
  }
  const std::string picture = folder_.file("alpha.png");
  put_bytes(picture, png_bytes({8, 8, 8, 6, rows}));
  const std::string hint = "3.12% of its pixels are transparent";
  EXPECT_TRUE(has(done(picture + " --noise 6 --mask " + mask_), hint));
  EXPECT_FALSE(has(done(picture + " --noise 6 --mask " + picture), hint));
}

TEST_F(RestoreNoise, DoesNotJudgeTheResidualOfAMethodForPriors) {
  const Outcome outcome =
      run(picture_ + " --noise 6 --downscale 1 --samples 2 --steps 2 --method pigdm", prior_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(has(outcome.output, "residual: not judged, as its tests are set for networks of the"))
      << outcome.output;
  EXPECT_TRUE(words()["findings"].empty());
}

}  // namespace
}  // namespace eps
