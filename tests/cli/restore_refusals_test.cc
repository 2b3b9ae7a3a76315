// eps restore, as a user calls it: what it refuses, and what it warns of.
#include "tests/cli/restore_program.h"

namespace eps {
namespace {

using RestoreRefusals = RestoreProgram;

TEST_F(RestoreRefusals, WarnsOfNoiseTheNetworkNeverSaw) {
  const Outcome outcome = run(picture_ + " --motion 3,0 --noise sigma=0.5");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("was trained for measurement noise of 0.01..0.2, not 0.5"),
            std::string::npos)
      << outcome.output;
}

TEST_F(RestoreRefusals, WarnsOfValuesTheNetworkNeverSaw) {
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
TEST_F(RestoreRefusals, WarnsOfValuesInPixelsWhereItKnowsPercentages) {
  write_small_eps(
      prior_,
      {.tasks = {"inpaint_box:height=25%..50%,width=25%..50%", "blur_gaussian:std=0.5..1"}});
  const std::string rest = " --steps 1 --samples 1";
  const Outcome higher =
      run(image_ + " --simulate --operator inpaint_box:height=5,width=4" + rest, prior_);
  EXPECT_EQ(higher.status, 0) << higher.output;
  EXPECT_NE(
      higher.output.find("was trained for inpaint_box with height=25%..50% of 8 pixels, not 5\n"),
      std::string::npos)
      << higher.output;
  EXPECT_EQ(higher.output.find("width=25%"), std::string::npos) << higher.output;
  remove_tree(out_);
  const Outcome blurred = run(image_ + " --simulate --gaussian 0.7" + rest, prior_);
  EXPECT_EQ(blurred.status, 0) << blurred.output;
  EXPECT_EQ(blurred.output.find("was trained"), std::string::npos) << blurred.output;
}

TEST_F(RestoreRefusals, RefusesWrongInputBeforeItWrites) {
  const std::string mask = " --mask " + mask_, noise = " --noise 6";
  says(run(picture_),
       "One of mask, kernel, motion, gaussian, disk, downscale, bayer, operator and denoise (of a "
       "picture that is only noisy) is wanted, got none");
  says(run(picture_ + mask + " --gaussian 1"), "got gaussian and mask");
  says(run(picture_ + " --gaussian 1 --border sideways"),
       "border sideways: wanted circular, valid, reflect, reflect101, replicate or zero; or black");
  says(run(picture_ + mask, prior_),
       "is a prior; a network trained for the posterior is wanted, or a method for this one");
  says(run(picture_ + mask + " --method palette"),
       "the method palette needs one for the input palette");
  says(run(picture_ + mask + " --method pigdm:scale=1"), "unknown field \"scale\"");
  says(run(picture_ + mask + " --method pigdm --steps 2", prior_),
       "the noise of the measurement must be stated");
  says(run(picture_ + mask, folder_.file("none.safetensors")), "none.safetensors");
  for (const auto* wrong : {"-3", "nan", "sigma=0"})
    says(run(picture_ + mask + " --noise=" + wrong), "a number > 0 is wanted");
  says(run(picture_ + noise + " --operator random_inpainting"), "is drawn at random");
  says(run(picture_ + noise + " --motion 7..15,0"), "blur: a kernel of 15 x 15 does not fit");
  says(run(picture_ + noise + " --motion 3..5,0"), "is drawn at random");
  says(run(picture_ + noise + " --motion 3"), "LENGTH,ANGLE is wanted");
  says(run(picture_ + noise + " --gaussian wide"), "gaussian: STD=wide is not a number");
  says(run(picture_ + noise + " --downscale 2"),
       "an image of 16 x 16 pixels (width x height), from a measurement of 8 x 8 pixels (width x "
       "height) in 3 channels; the network " +
           eps_ + " takes 8 x 8: take one for pictures of any size, or crop and resize");
  says(run(folder_.file("no.png") + noise + mask), "no.png");
  says(run(picture_ + noise + " --mask " + folder_.file("no.png")), "no.png");
  says(run(picture_ + noise + " --operator fourier_lines"), "is no picture");
  says(run(picture_ + noise + " --operator inpaint_bx"),
       "did you mean \"inpaint_box\"?); see eps list tasks");
  const std::string other = folder_.file("other.npy");
  write_npy(other, at::zeros({6, 7}, at::kFloat));
  says(run(other + noise + mask), "an image of 7 x 6 pixels (width x height); the network");
  says(run(picture_ + noise + " --mask " + other),
       "the mask has 7 x 6 pixels (width x height), the image 8 x 8");
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

TEST_F(RestoreRefusals, RefusesWhatCannotBeRestored) {
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

TEST_F(RestoreRefusals, RefusesArraysWithChannelsLastAndPhotographsAsMasks) {
  const std::string other = folder_.file("other.npy"), photo = folder_.file("photo.png");
  write_npy(other, at::zeros({8, 8, 3}, at::kFloat));
  says(run(other + " --noise 6 --gaussian 0.5"),
       "an array of 8 x 8 x 3, channels last; C x H x W is wanted: transpose it");
  write_png(photo, Rng(3).uniform({3, 8, 8}).mul(255).to(at::kByte));
  says(run(picture_ + " --noise 6 --mask " + photo), "a mask is black and white");
}

TEST_F(RestoreRefusals, WarnsOfInputThatIsNotWhatItSeems) {
  const auto warns = [&](const std::string& rest, const std::string& words) {
    const Outcome outcome = run(rest);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    remove_tree(out_);
  };
  const std::string other = folder_.file("other.npy"), inverted = folder_.file("inverted.png"),
                    holed = folder_.file("holed.png");
  write_npy(other, (read_npy(image_) + 1) / 2);
  warns(other + " --noise 6 --motion 3,0", "its values seem to lie in [0, 1]");
  Tensor hole = at::zeros({8, 8}, at::kByte);
  hole.narrow(0, 1, 5).narrow(1, 1, 5).fill_(1);
  write_png(inverted, 255 * hole);
  write_png(holed, read_image(picture_) * (1 - hole));
  warns(holed + " --noise 6 --mask " + inverted, "the mask seems to be inverted: the 39%");
  warns(picture_ + " --motion 3,0 --noise 0.05", "did you mean sigma=0.05?");
}

TEST_F(RestoreRefusals, FlipsKernelsOnDemand) {
  const std::string kernel = folder_.file("kernel.npy");
  write_npy(kernel, at::tensor({0.6, 0.3, 0.1}, at::kFloat).view({1, 3}));
  const Outcome outcome = run(picture_ + " --noise 6 --flip-kernel --kernel " + kernel);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(at::equal(array("kernel"), at::tensor({0.1, 0.3, 0.6}, at::kFloat).view({1, 3})));
  EXPECT_NE(words()["operator"].get<std::string>().find("kernel.npy,border=valid, flipped"),
            std::string::npos);
  EXPECT_NE(run(picture_ + " --noise 6 --flip-kernel --gaussian 1").output.find("--kernel"),
            std::string::npos);
}

TEST_F(RestoreRefusals, WarnsOfAKernelThatIsNoAverage) {
  const std::string kernel = folder_.file("kernel.npy");
  write_npy(kernel, at::ones({3, 3}, at::kFloat));
  const Outcome outcome = run(picture_ + " --noise 6 --kernel " + kernel);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("has the sum 9, not 1"), std::string::npos) << outcome.output;
}

TEST_F(RestoreRefusals, RefusesSeedsThatItWouldChange) {
  for (const char* seed : {"18446744073709551616", "010", "1.5"})
    says(run(picture_ + " --gaussian 0.5 --noise 1 --seed " + seed),
         std::string("a seed is a whole number from 0 to 18446744073709551615, got ") + seed);
}

}  // namespace
}  // namespace eps
