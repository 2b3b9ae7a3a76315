// eps restore, as a user calls it: what it takes and what it writes.
#include "eps/restore/restore.h"

#include <ATen/Parallel.h>

#include "eps/base/version.h"
#include "tests/cli/restore_program.h"

namespace eps {
namespace {

using Restore = RestoreProgram;

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
  EXPECT_NEAR(found["measured_share"].get<double>(), array("mask").mean().item<double>(), 1e-6);
  EXPECT_NE(outcome.output.find("% of the pixels are measured"), std::string::npos);
  EXPECT_EQ(found["version"], version());
  EXPECT_TRUE(found["warnings"].empty());
  for (const auto& [name, one] : found["residual"].items()) {
    EXPECT_TRUE(one.contains("z") && one.contains("size")) << name;
    EXPECT_LE(one["p"].get<double>(), 1) << name;
  }
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

// To the bit, as from Python (python/tests/test_restore.py).
TEST_F(Restore, DrawsTheSamplesOfTheLibrary) {
  const std::string spec = "inpaint_random:missing=0.6";
  const Outcome outcome =
      run(image_ + " --simulate --operator " + spec + " --noise sigma=0.1 --seed 7");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const RestorationResult result = restore_measurement({.input = image_,
                                                        .operator_options = {.spec = spec},
                                                        .simulate = true,
                                                        .sigma_y = 0.1,
                                                        .steps = 2,
                                                        .options = {.samples = 2, .seed = 7}},
                                                       read_checkpoint(eps_));
  at::set_num_threads(threads);
  EXPECT_TRUE(at::equal(array("samples"), result.restoration.samples.to(at::kFloat)));
  EXPECT_TRUE(at::equal(array("mean"), result.restoration.mean.to(at::kFloat)));
}

// With a prior: the noise is stated, and the values are those of the operator's kind.
TEST_F(Restore, TakesAMethodForAPrior) {
  const std::string rest = picture_ + " --mask " + mask_ + " --noise 6.4 --samples 2 --method ";
  const Outcome outcome = run(rest + "dps:steps=3", prior_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const std::string warning = "eps: warning: dps:steps=3 approximates the posterior: ";
  EXPECT_NE(outcome.output.find(warning), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("warning"), outcome.output.rfind("warning")) << outcome.output;
  EXPECT_EQ(words()["method"], "dps:steps=3");
  EXPECT_EQ(words()["steps"], 3);
  EXPECT_EQ(words()["evaluations_per_sample"], 3);
  const Tensor samples = array("samples");
  remove_tree(out_);
  ASSERT_EQ(run(rest + "dps:scale=5 --steps 3", prior_).status, 0);
  EXPECT_TRUE(at::equal(samples, array("samples")));
  remove_tree(out_);
  ASSERT_EQ(run(rest + "dps:scale=4 --steps 3", prior_).status, 0);
  EXPECT_FALSE(at::equal(samples, array("samples")));
}

TEST_F(Restore, OfOneSampleHasNoDeviation) {
  const Outcome outcome = run(image_ + " --simulate --motion 3,30 --steps 1 --samples 1", eps_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(exists("mean.png") && exists("sheet.png"));
  EXPECT_FALSE(exists("deviation.npy") || exists("interval.npy") || exists("low.png"));
  EXPECT_EQ(words()["interval"], "none");
}

TEST_F(Restore, OfAGreyMeasurementIsGrey) {
  const Outcome outcome = run(grey_ + " --gaussian 0.5 --border replicate --noise 6");
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
  EXPECT_EQ(outcome.output.find("samples fit the measurement\n"), std::string::npos);
  EXPECT_GT(words()["noise"]["finest_detail"].get<double>(), 0);
  remove_tree(out_);
  ASSERT_EQ(run(picture_ + " --motion 3,0").status, 0);
  EXPECT_GT(std::abs(words()["noise"]["sigma"].get<double>() - 0.07), 1e-6);
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

// One k-space as pairs, which complex numbers become on reading, with its parts in place of
// channels, and centred.
TEST_F(Restore, TakesKSpaceInManyForms) {
  const Tensor grey = read_npy(grey_).to(at::kDouble).view({1, 1, 8, 8});
  const Tensor k = at::fft_fft2(grey, c10::nullopt, {{2, 3}}, "ortho");
  const Tensor pairs = at::view_as_real(k).contiguous();
  const std::string file = folder_.file("k.npy");
  const auto measured = [&](const Tensor& y, const std::string& rest) {
    write_npy(file, y.contiguous());
    const Outcome outcome =
        run(file + " --noise 6 --operator fourier_lines:acceleration=1,center=1 " + rest);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const Tensor found = array("measurement");
    remove_tree(out_);
    return found;
  };
  const Tensor wanted = pairs[0].to(at::kFloat);
  EXPECT_TRUE(at::equal(measured(pairs, ""), wanted));
  EXPECT_TRUE(at::equal(measured(pairs.squeeze(1).permute({0, 3, 1, 2}), ""), wanted));
  EXPECT_TRUE(at::equal(measured(at::fft_fftshift(pairs, {{2, 3}}), "--centred"), wanted));
  says(run(picture_ + " --noise 6 --operator identity --centred"), "centred is for k-space");
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
