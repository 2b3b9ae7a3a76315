// eps run, as a user calls it: what it writes, and what it says of wrong input.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/base/random.h"
#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "eps/operators/factories.h"
#include "tests/program.h"
#include "tests/small_checkpoints.h"

namespace eps {
namespace {

// A network for 3 x 8 x 8 images that has learnt nothing, and images for it.
class Run : public testing::Test {
 protected:
  Run() {
    write_small_prior(prior_);
    write_small_eps(eps_, {.tasks = {"random_inpainting"}, .sigma_y = "0.05"});
    write_npy(images_, (0.3 * Rng(1, 5).normal({5, 3, 8, 8})).clamp(-1, 1).to(at::kFloat));
  }

  Outcome run(const std::string& method, const std::string& model, const std::string& rest) const {
    return run_program(EPS_PROGRAM,
                       "run " + method + " --model " + model + " --images " + images_ +
                           " --device cpu --threads 1 " + rest);
  }

  const Folder folder_;
  const std::string prior_ = folder_.file("prior.safetensors"),
                    eps_ = folder_.file("eps.safetensors");
  const std::string images_ = folder_.file("images.npy"), out_ = folder_.file("out");
};

TEST_F(Run, WritesSamplesTruthMeasurementAndASheet) {
  const Outcome outcome =
      run("dps:scale=0.1",
          prior_,
          "--task random_inpainting --samples 2 --steps 3 --batch 2 --out " + out_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("3 evaluations, 3 VJPs, 0 solves a sample"), std::string::npos)
      << outcome.output;
  const Tensor samples = read_npy(out_ + "/samples.npy"), truth = read_npy(out_ + "/truth.npy");
  EXPECT_EQ(samples.sizes(), at::IntArrayRef({2, 5, 3, 8, 8}));
  EXPECT_TRUE(at::equal(truth, read_npy(images_)));
  // The measurement is A x0 + noise, for the mask that is written beside it.
  const Tensor y = read_npy(out_ + "/measurement.npy");
  const Tensor mask = read_npy(out_ + "/mask.npy").reshape({-1, 1, 8, 8});
  ASSERT_EQ(mask.size(0), 5);
  const Tensor noise = (y - truth * mask).to(at::kDouble);
  EXPECT_EQ((noise * (1 - mask)).abs().max().item<double>(), 0);
  const double count = 3 * mask.sum().item<double>();
  const double variance = noise.square().sum().item<double>() / count;
  EXPECT_NEAR(variance, 0.0025, 5 * 0.0025 * std::sqrt(2 / count));
  EXPECT_TRUE(std::filesystem::exists(out_ + "/sheet.png"));
  const auto words = nlohmann::json::parse(get_bytes(out_ + "/run.json"));
  EXPECT_EQ(words["options"]["scale"], "0.1");
  EXPECT_EQ(words["options"]["steps"], "3");
  EXPECT_EQ(words["vjps_per_sample"], 3);
}

TEST_F(Run, GivesEachImageTheSameWhateverTheBatch) {
  const std::string rest =
      "--task blur_motion:length=3..5,angle=0..180 --samples 1 --steps 2 --out ";
  ASSERT_EQ(run("pigdm", prior_, rest + out_ + "1 --batch 1").status, 0);
  ASSERT_EQ(run("pigdm", prior_, rest + out_ + "5 --batch 5").status, 0);
  const Tensor alone = read_npy(out_ + "1/samples.npy"),
               together = read_npy(out_ + "5/samples.npy");
  EXPECT_LT(relative_error(together, alone), 1e-4);
  EXPECT_TRUE(
      at::equal(read_npy(out_ + "1/measurement.npy"), read_npy(out_ + "5/measurement.npy")));
}

// A local network takes photographs as they are; a picture is not reduced to the crops of training.
TEST_F(Run, TakesPhotographsInTheirOwnSize) {
  const std::string local = folder_.file("local.safetensors"), photos = folder_.file("photos");
  {
    const c10::NoGradGuard no_gradients;
    nets::UNetConfig config = small_local();
    config.in_channels = NetworkInput::eps.channels(config.img_channels);
    write_checkpoint(local, {.network = wave_network(config), .input = NetworkInput::eps});
  }
  std::filesystem::create_directory(photos);
  const Tensor photo = to_uint8(0.3 * Rng(1).normal({3, 24, 37}));
  write_png(photos + "/a.png", photo);
  const auto run_on_photos = [&](const std::string& out) {
    return run_program(EPS_PROGRAM,
                       "run eps --model " + local + " --images " + photos +
                           " --device cpu --threads 1 --task random_inpainting --samples 1 "
                           "--steps 1 --out " +
                           out);
  };
  const Outcome outcome = run_on_photos(out_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(at::equal(to_uint8(read_npy(out_ + "/truth.npy")[0]), photo));
  write_png(photos + "/b.png", photo.slice(2, 0, 30));
  const Outcome sizes = run_on_photos(out_ + "2");
  EXPECT_EQ(sizes.status, 2) << sizes.output;
  EXPECT_NE(sizes.output.find("30"), std::string::npos) << sizes.output;
}

TEST_F(Run, WarnsOfATaskTheNetworkNeverSaw) {
  const Outcome outcome = run(
      "eps", eps_, "--task super_resolution_4x --sigma-y 0.2 --steps 1 --samples 1 --out " + out_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("was trained for inpaint_random, not for super_resolution"),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("trained for measurement noise of 0.05, not 0.2"),
            std::string::npos)
      << outcome.output;
}

// The network is asked as if all were missing, whatever the task and the noise.
TEST_F(Run, TakesANetworkOfThePosteriorAsItsOwnPrior) {
  const Outcome outcome =
      run("dps:scale=0.1",
          eps_,
          "--task super_resolution_4x --sigma-y 0.2 --steps 2 --samples 1 --out " + out_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const std::string warning = "eps: warning: " + eps_ +
                              " was trained with at most 70% of the pixels missing; as a prior it "
                              "is asked with all of them missing\n";
  const size_t first = outcome.output.find("warning");
  EXPECT_EQ(outcome.output.find(warning), first - 5) << outcome.output;
  EXPECT_EQ(outcome.output.find("warning", first + 1), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("2 evaluations, 2 VJPs"), std::string::npos) << outcome.output;
}

TEST_F(Run, RefusesWrongInputBeforeItWrites) {
  const auto says = [&](const Outcome& outcome, const std::string& words) {
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(out_));
  };
  const std::string out = "--task random_inpainting --out " + out_;
  says(run("eps", prior_, out),
       "a network for the input prior; the method eps needs one for the input eps");
  write_small_eps(eps_, {}, NetworkInput::palette);
  says(run("dps", eps_, out),
       "a network for the input palette; the method dps needs one for the input prior");
  says(run("dpz", prior_, out), "unknown method \"dpz\"");
  says(run("dps:steps=3", prior_, out + " --steps 4"), "sets steps already");
  says(run("dps", prior_, "--task random_inpaintin --out " + out_), "unknown task");
  says(run("ddrm", prior_, "--task 'blur_gaussian:size=3 | inpaint_random' --out " + out_),
       "ddrm: needs an operator whose A'A is diagonal in a fast basis");
  write_npy(images_, at::full({1, 3, 8, 8}, 200.0f));
  says(run("dps", prior_, out), "images are wanted in [-1, 1], found values from 200 to 200");
  write_npy(images_, at::zeros({1, 3, 16, 16}, at::kFloat));
  says(run("dps", prior_, out), "the network takes images of 3 x 8 x 8, got 3 x 16 x 16");
  std::filesystem::create_directories(out_ + "/kept");
  const Outcome outcome = run("dps", prior_, out);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find(out_ + ": exists; a new or an empty folder is wanted"),
            std::string::npos)
      << outcome.output;
}

TEST_F(Run, KeepsItsWorkWhateverTheNameOfAMask) {
  const std::string mask = folder_.file("im\xff.npy");
  write_npy(mask, at::ones({8, 8}));
  const Outcome outcome =
      run("dps:scale=0.1", prior_, "--task inpaint_mask:file=" + mask + " --steps 2 --out " + out_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const auto words = nlohmann::json::parse(get_bytes(out_ + "/run.json"));
  EXPECT_EQ(words["task"].get<std::string>(),
            "inpaint_mask:file=" + folder_.file("im\xef\xbf\xbd.npy"));
}

// A process that was killed while it wrote leaves nothing that keeps the next one out.
TEST_F(Run, WritesWhereAnotherWasKilled) {
  const std::string left = folder_.file("out.12.0.tmp");
  std::filesystem::create_directory(left);
  put_bytes(left + "/samples.npy", "half");
  const Outcome outcome =
      run("dps:scale=0.1", prior_, "--task random_inpainting --steps 2 --out " + out_);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(std::filesystem::exists(out_ + "/run.json"));
  EXPECT_FALSE(std::filesystem::exists(left));
}

}  // namespace
}  // namespace eps
