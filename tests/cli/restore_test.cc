// eps restore, as a user calls it: what it writes, and what it says of wrong input.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/restore/restoration.h"
#include "tests/program.h"
#include "tests/small_checkpoints.h"

namespace eps {
namespace {

// Networks for 3 x 8 x 8 images that have learnt nothing, and measurements for them.
class Restore : public testing::Test {
 protected:
  Restore() {
    write_small_prior(prior_);
    write_small_eps(
        eps_,
        {.tasks = {"inpaint_random:missing=0.5..0.7", "blur_motion"}, .sigma_y = "0.01..0.2"});
    const Tensor image = (0.3 * Rng(1).normal({3, 8, 8})).clamp(-1, 1);
    write_npy(image_, image.to(at::kFloat));
    write_png(picture_, to_uint8(image));
    const Tensor mask = (Rng(2).uniform({8, 8}) < 0.7).to(at::kByte);
    write_png(folder_.file("a mask, of mine.png"), 255 * mask);
    write_npy(grey_, image.mean(0).to(at::kFloat));
  }

  Outcome run(const std::string& rest, const std::string& model) const {
    return run_program(
        EPS_PROGRAM,
        "restore --model " + model + " --device cpu --threads 1 --out " + out_ + " " + rest);
  }
  // Two steps of two samples.
  Outcome run(const std::string& rest) const { return run(rest + " --steps 2 --samples 2", eps_); }
  void says(const Outcome& outcome, const std::string& words) const {
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
  nlohmann::json words() const { return nlohmann::json::parse(get_bytes(out_ + "/restore.json")); }
  Tensor array(const std::string& name) const { return read_npy(out_ + "/" + name + ".npy"); }
  bool exists(const std::string& name) const { return std::filesystem::exists(out_ + "/" + name); }

  const Folder folder_;
  const std::string prior_ = folder_.file("prior.safetensors"),
                    eps_ = folder_.file("eps.safetensors");
  const std::string image_ = folder_.file("image.npy"), picture_ = folder_.file("picture.png"),
                    mask_ = "'" + folder_.file("a mask, of mine.png") + "'",
                    grey_ = folder_.file("grey.npy"), out_ = folder_.file("out");
};

TEST_F(Restore, WritesSamplesAndWhatTheySay) {
  const Outcome outcome = run(picture_ + " --mask " + mask_ + " --noise 6.4");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const auto* name : {"sample-1.png",
                           "sample-2.png",
                           "mean.png",
                           "deviation.png",
                           "low.png",
                           "high.png",
                           "measurement.png",
                           "sheet.png",
                           "mask.npy"})
    EXPECT_TRUE(exists(name)) << name;
  EXPECT_FALSE(exists("sample-3.png"));
  // The files agree with each other: the summary is that of the samples.
  const Tensor samples = array("samples");
  ASSERT_EQ(samples.sizes(), at::IntArrayRef({2, 3, 8, 8}));
  const Restoration summary = summarise(samples);
  EXPECT_LT(relative_error(array("mean"), summary.mean), 1e-5);
  EXPECT_LT(relative_error(array("deviation"), summary.deviation), 1e-5);
  EXPECT_LT(relative_error(array("interval"), at::stack({summary.low, summary.high})), 1e-5);
  EXPECT_TRUE(at::equal(read_image(out_ + "/sample-2.png"), to_uint8(samples[1])));
  // 8 bits are read as they are where the mask is white.
  EXPECT_TRUE(at::equal(array("measurement"), from_uint8(read_image(picture_)) * array("mask")));
  const auto found = words();
  EXPECT_EQ(found["measurements"], 3 * array("mask").sum().item<int64_t>());
  EXPECT_NEAR(found["noise"]["sigma"].get<double>(), 6.4 / 127.5, 1e-12);
  EXPECT_EQ(found["noise"]["estimated"], false);
  EXPECT_EQ(found["interval"], "student_t");
  EXPECT_EQ(found["evaluations_per_sample"], 2);
  EXPECT_EQ(found["method"], "eps");
  EXPECT_EQ(outcome.output.find("warning"), std::string::npos) << outcome.output;
}

TEST_F(Restore, SimulatesAndKnowsTheTruth) {
  const Outcome outcome =
      run(image_ + " --simulate --operator inpaint_random:missing=0.6 --noise sigma=0.1");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("PSNR of a sample"), std::string::npos) << outcome.output;
  EXPECT_TRUE(words().contains("psnr_of_mean"));
  const Tensor noise = (array("measurement") - read_npy(image_) * array("mask")).to(at::kDouble);
  EXPECT_EQ((noise * (1 - array("mask"))).abs().max().item<double>(), 0);
  const double count = 3 * array("mask").sum().item<double>();
  EXPECT_NEAR(noise.square().sum().item<double>() / count, 0.01, 5 * 0.01 * std::sqrt(2 / count));
}

TEST_F(Restore, OfOneSampleHasNoDeviation) {
  const Outcome outcome = run(image_ + " --simulate --motion 3,30 --steps 1 --samples 1", eps_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(exists("mean.png") && exists("sheet.png"));
  EXPECT_FALSE(exists("deviation.npy") || exists("interval.npy") || exists("low.png"));
  EXPECT_EQ(words()["interval"], "none");
}

TEST_F(Restore, OfAGreyMeasurementIsGrey) {
  const Outcome outcome = run(grey_ + " --gaussian 0.5 --noise 6");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(array("samples").sizes(), at::IntArrayRef({2, 1, 8, 8}));
  EXPECT_EQ(words()["measurements"], 64);
  EXPECT_EQ(read_image(out_ + "/mean.png").size(0), 1);
  EXPECT_NE(outcome.output.find("was trained for inpaint_random, blur_motion, not "
                                "for blur_gaussian"),
            std::string::npos)
      << outcome.output;
}

// A network of one noise level leaves one answer; that of several levels is another.
TEST_F(Restore, EstimatesTheNoiseInTheTrainedRange) {
  write_small_eps(prior_, {.tasks = {"blur_motion"}, .sigma_y = "0.07"});
  const Outcome outcome = run(picture_ + " --motion 3,0 --steps 2 --samples 2", prior_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(words()["noise"]["estimated"], true);
  EXPECT_NEAR(words()["noise"]["sigma"].get<double>(), 0.07, 1e-12);
  EXPECT_NE(outcome.output.find("sigma=0.07), estimated"), std::string::npos) << outcome.output;
  remove_tree(out_);
  ASSERT_EQ(run(picture_ + " --motion 3,0").status, 0);
  EXPECT_GT(std::abs(words()["noise"]["sigma"].get<double>() - 0.07), 1e-6);
}

TEST_F(Restore, WarnsOfNoiseTheNetworkNeverSaw) {
  const Outcome outcome = run(picture_ + " --motion 3,0 --noise sigma=0.5");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("was trained for measurement noise of 0.01..0.2, not 0.5"),
            std::string::npos)
      << outcome.output;
}

TEST_F(Restore, WarnsOfValuesTheNetworkNeverSaw) {
  const std::string simulate = image_ + " --simulate --operator inpaint_random:missing=";
  const Outcome outcome = run(simulate + "0.9");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("was trained for inpaint_random with missing=0.5..0.7, not 0.9"),
            std::string::npos)
      << outcome.output;
  remove_tree(out_);
  const Outcome within = run(simulate + "0.5..0.6");
  EXPECT_EQ(within.status, 0);
  EXPECT_EQ(within.output.find("warning"), std::string::npos) << within.output;
}

// 4 of 8 pixels are 50%. The size of a kernel's array does not count.
TEST_F(Restore, WarnsOfValuesInPixelsWhereItKnowsPercentages) {
  write_small_eps(
      prior_,
      {.tasks = {"inpaint_box:height=25%..50%,width=25%..50%", "blur_gaussian:std=0.5..1"}});
  const std::string rest = " --steps 1 --samples 1";
  const Outcome higher =
      run(image_ + " --simulate --operator inpaint_box:height=5,width=4" + rest, prior_);
  EXPECT_EQ(higher.status, 0) << higher.output;
  EXPECT_NE(higher.output.find("was trained for inpaint_box with height=25%..50%, not 5\n"),
            std::string::npos)
      << higher.output;
  EXPECT_EQ(higher.output.find("width=25%"), std::string::npos) << higher.output;
  remove_tree(out_);
  const Outcome blurred = run(image_ + " --simulate --gaussian 0.7" + rest, prior_);
  EXPECT_EQ(blurred.status, 0) << blurred.output;
  EXPECT_EQ(blurred.output.find("was trained"), std::string::npos) << blurred.output;
}

TEST_F(Restore, TakesFlatMeasurementsInTheirOwnShape) {
  const std::string y = folder_.file("y.npy"), matrix = folder_.file("matrix.npy");
  write_npy(matrix, Rng(4).normal({20, 192}) / 14);
  write_npy(y, Rng(5).normal({20}));
  const Outcome outcome = run(y + " --noise 10 --operator matrix:file=" + matrix);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(words()["measurements"], 20);
  EXPECT_EQ(array("measurement").sizes(), at::IntArrayRef({20}));
}

TEST_F(Restore, RefusesWrongInputBeforeItWrites) {
  const std::string mask = " --mask " + mask_, noise = " --noise 6";
  says(run(picture_),
       "One of mask, kernel, motion, gaussian, downscale and operator is wanted, got none");
  says(run(picture_ + mask + " --gaussian 1"), "got gaussian and mask");
  says(run(picture_ + mask, prior_),
       "is a prior; a network trained for the posterior is wanted; eps run has methods for other "
       "networks");
  says(run(picture_ + mask, folder_.file("none.safetensors")), "none.safetensors");
  for (const auto* wrong : {"-3", "nan", "sigma=0"})
    says(run(picture_ + mask + " --noise=" + wrong), "a number > 0 is wanted");
  says(run(picture_ + noise + " --operator random_inpainting"), "is drawn at random");
  says(run(picture_ + noise + " --motion 7..15,0"), "blur: a kernel of 15 x 15 does not fit");
  says(run(picture_ + noise + " --motion 3..5,0"), "is drawn at random");
  says(run(picture_ + noise + " --motion 3"), "LENGTH,ANGLE is wanted");
  says(run(picture_ + noise + " --gaussian wide"), "gaussian: STD=wide is not a number");
  says(
      run(picture_ + noise + " --downscale 2"),
      "an image of 16 x 16, from a measurement of 3 x 8 x 8; the network " + eps_ + " takes 8 x 8");
  says(run(folder_.file("no.png") + noise + mask), "no.png");
  says(run(picture_ + noise + " --mask " + folder_.file("no.png")), "no.png");
  says(run(picture_ + noise + " --operator fourier_lines"), "is no picture");
  says(run(picture_ + noise + " --operator inpaint_bx"),
       "did you mean \"inpaint_box\"?); see eps list tasks");
  const std::string other = folder_.file("other.npy");
  write_npy(other, at::zeros({6, 7}, at::kFloat));
  says(run(other + noise + mask), "an image of 6 x 7; the network");
  says(run(picture_ + noise + " --mask " + other), "the mask is 6 x 7, the image 8 x 8 pixels");
  write_npy(other, at::ones({9, 9}, at::kFloat));
  says(run(picture_ + noise + " --kernel " + other), "9 x 9");
  write_npy(other, at::zeros({2, 3, 8, 8}, at::kFloat));
  says(run(other + noise + mask), "one measurement of 3 dimensions is wanted, got 2 x 3 x 8 x 8");
  write_npy(other, at::zeros({2, 8, 8}, at::kFloat));
  says(run(other + noise + mask), "an image of 2 channels; the network");
  write_npy(other, at::zeros({3, 8, 8}, at::kLong));
  says(run(other + noise + mask), "float32, float64 or uint8 is wanted");
  write_npy(other, at::full({3, 8, 8}, std::nan(""), at::kFloat));
  says(run(other + noise + mask), "other.npy");
  write_npy(other, at::full({3, 8, 8}, 7, at::kFloat));
  says(run(other + mask + " --simulate"), "images are wanted in [-1, 1]");
  std::filesystem::create_directories(out_ + "/kept");
  EXPECT_NE(run(picture_ + mask).output.find("a new or an empty folder is wanted"),
            std::string::npos);
}

TEST_F(Restore, RefusesWhatCannotBeRestored) {
  const std::string noise = " --noise 6", dark = folder_.file("dark.png");
  write_png(dark, at::zeros({8, 8}, at::kByte));
  says(run(picture_ + noise + " --mask " + dark), "nothing is measured");
  const std::string other = folder_.file("other.npy");
  write_npy(other, at::full({3, 8, 8}, 200, at::kFloat));
  says(run(other + noise + " --gaussian 0.5"),
       "values of up to 200; units of [-1, 1] are wanted, or uint8 for 8 bits");
  says(run(grey_ + " --simulate --operator grey"), "does not act on each channel alone");
  says(run(grey_ + " --simulate --operator matrix:rows=20"), "does not act on each channel alone");
  says(run(picture_ + " --gaussian 0.5 --seed -1"), "--seed");
  put_bytes(folder_.file("file"), "");
  says(run_program(EPS_PROGRAM,
                   "restore " + picture_ + noise + " --gaussian 0.5 --model " + eps_ + " --out " +
                       folder_.file("file/below")),
       "file is not a folder");
}

// A network that is asked with functions of A'A.
TEST_F(Restore, TakesChainsOfOperators) {
  const c10::NoGradGuard no_gradients;
  nets::UNetConfig wide = small_ncsnpp();
  wide.in_channels = 9;
  write_checkpoint(prior_, {.network = wave_network(wide), .input = NetworkInput::eps_precision});
  const Outcome outcome = run(
      picture_ +
          " --simulate --samples 2 --steps 2 --operator 'blur_gaussian:size=3 | inpaint_random'",
      prior_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_F(Restore, DoesNotLookAtWhatIsUnderTheMask) {
  const Tensor mask = (Rng(2).uniform({8, 8}) < 0.7);
  const Tensor y = read_npy(image_);
  const std::string with_nan = folder_.file("nan.npy");
  write_npy(with_nan, y.masked_fill(mask.logical_not(), std::nan("")));
  ASSERT_EQ(run(image_ + " --noise 6 --mask " + mask_).status, 0);
  const Tensor wanted = array("samples");
  const Outcome outcome = run_program(EPS_PROGRAM,
                                      "restore " + with_nan + " --noise 6 --mask " + mask_ +
                                          " --steps 2 --samples 2 --device cpu --threads 1 "
                                          "--model " +
                                          eps_ + " --out " + folder_.file("other"));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(at::equal(read_npy(folder_.file("other") + "/samples.npy"), wanted));
}

TEST_F(Restore, WarnsOfAKernelThatIsNoAverage) {
  const std::string kernel = folder_.file("kernel.npy");
  write_npy(kernel, at::ones({3, 3}, at::kFloat));
  const Outcome outcome = run(picture_ + " --noise 6 --kernel " + kernel);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("has the sum 9, not 1"), std::string::npos) << outcome.output;
}

TEST_F(Restore, TakesNetworksWhoseTasksItDoesNotKnow) {
  write_small_eps(
      prior_, {.tasks = {"random_inpainting_wide", "blur_motion:length=new"}, .sigma_y = "0.05"});
  const std::string rest = " --noise 6 --samples 1 --steps 1";
  Outcome outcome = run(picture_ + " --gaussian 0.5" + rest, prior_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find(
                "was trained for random_inpainting_wide, blur_motion, not for blur_gaussian"),
            std::string::npos)
      << outcome.output;
  remove_tree(out_);
  outcome = run(picture_ + " --motion 3,0" + rest, prior_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("blur_motion, not"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("blur_motion with"), std::string::npos) << outcome.output;
  remove_tree(out_);
  write_small_eps(prior_, {.tasks = {"blur:strong", ""}, .sigma_y = "0.05"});
  outcome = run(picture_ + " --motion 3,0" + rest, prior_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// All of the image in one pixel: its picture shares memory.
TEST_F(Restore, TakesTheMeanOfAWholeImage) {
  const Outcome outcome = run(picture_ + " --simulate --downscale 8");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

TEST_F(Restore, KeepsItsWorkWhateverTheNameOfTheMeasurement) {
  const std::string image = folder_.file("im\xff.npy");
  std::filesystem::copy(image_, image);
  const Outcome outcome = run(image + " --mask " + mask_ + " --noise 6.4");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(words()["input"].get<std::string>(), folder_.file("im\xef\xbf\xbd.npy"));
}

TEST_F(Restore, RefusesSeedsThatItWouldChange) {
  for (const char* seed : {"18446744073709551616", "010", "1.5"})
    says(run(picture_ + " --gaussian 0.5 --noise 1 --seed " + seed),
         std::string("a seed is a whole number from 0 to 18446744073709551615, got ") + seed);
}

// Two at once write the same folder: one has it, whole, and the other says so.
TEST_F(Restore, DoesNotMixWithAnotherProcess) {
  const std::string command = std::string(EPS_PROGRAM) + " restore --model " + eps_ +
                              " --device cpu --threads 1 --steps 2 --samples 2 --noise 1 " +
                              "--gaussian 0.5 --out " + out_ + " " + picture_;
  const Outcome both = run_program("(" + command + " --seed 1 & a=$!; " + command,
                                   "--seed 2; b=$?; wait $a; echo codes $? $b)");
  const bool first = both.output.find("codes 0 2") != std::string::npos;
  const bool second = both.output.find("codes 2 0") != std::string::npos;
  ASSERT_TRUE(first != second) << both.output;
  EXPECT_EQ(words()["seed"], first ? 1 : 2);
  for (const auto& name : folder_.names()) EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
}

}  // namespace
}  // namespace eps
