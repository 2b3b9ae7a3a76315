// eps restore with a network for pictures of any size, as a user calls it.
#include "tests/cli/restore_program.h"

namespace eps {
namespace {

// The network has learnt nothing, so that it answers with the linear estimate.
class RestoreAnySize : public RestoreProgram {
 protected:
  RestoreAnySize() {
    const c10::NoGradGuard no_gradients;
    nets::UNetConfig config = small_patched();
    const NetworkInput input = NetworkInput::eps_precision.with(Channel::skip);
    config.in_channels = input.channels(config.img_channels);
    Checkpoint network{
        .network = nets::UNet(config),
        .preconditioning = {.kind = Preconditioning::Kind::anisotropic},
        .input = input,
        .provenance = {.tasks = {"identity", "inpaint_random"}, .sigma_y = "0.005..0.4"}};
    Rng rng(1);
    network.network.initialise(rng);
    write_checkpoint(local_, network);
  }
  // A photograph of this size, and a mask over it with a scratch.
  void photograph(int64_t height, int64_t width) const {
    write_png(photo_, to_uint8(0.3 * Rng(1).normal({3, height, width})));
    const Tensor mask = at::full({height, width}, 255, at::kByte);
    mask.narrow(0, height / 2, 2).narrow(1, width / 2, 9).zero_();
    write_png(scratch_, mask);
  }

  const std::string local_ = folder_.file("local.safetensors"), photo_ = folder_.file("photo.png"),
                    scratch_ = folder_.file("scratch.png");
};

TEST_F(RestoreAnySize, QuickWritesTheMeanAlone) {
  photograph(24, 37);
  const Outcome outcome = run(photo_ + " --denoise --quick --noise 12", local_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("the mean of one evaluation"), std::string::npos);
  EXPECT_EQ(array("mean").sizes(), at::IntArrayRef({3, 24, 37}));
  EXPECT_EQ(read_image(out_ + "/mean.png").sizes(), at::IntArrayRef({3, 24, 37}));
  for (const char* none : {"sample-1.png", "samples.npy", "deviation.png", "low.png"})
    EXPECT_FALSE(exists(none)) << none;
  EXPECT_TRUE(words()["quick"].get<bool>());
}

TEST_F(RestoreAnySize, AScratchLeavesTheRestAsItIs) {
  photograph(70, 90);
  const Outcome outcome = run(
      photo_ + " --mask " + scratch_ + " --region holes --noise 3 --samples 2 --steps 2", local_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("holes restored in 1 window around them"), std::string::npos)
      << outcome.output;
  const Tensor photo = read_image(photo_), sample = read_image(out_ + "/sample-1.png");
  const Tensor changed = (photo != sample).any(0);
  const Tensor hole = read_image(scratch_)[0] == 0;
  EXPECT_FALSE(changed.logical_and(hole.logical_not()).any().item<bool>());
  EXPECT_TRUE(changed.any().item<bool>());
  EXPECT_EQ(words()["windows"].size(), 1u);
  // The network's radius is 50: the window has all of the picture's height.
  EXPECT_EQ(words()["windows"][0]["height"].get<int64_t>(), 70);
}

TEST_F(RestoreAnySize, AMosaicIsAGreyPicture) {
  const std::string mosaic = folder_.file("mosaic.png");
  write_png(mosaic, to_uint8(0.3 * Rng(1).normal({1, 16, 22})));
  const Outcome outcome = run(mosaic + " --bayer grbg --noise 6 --samples 2 --steps 2", local_);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(array("samples").sizes(), at::IntArrayRef({2, 3, 16, 22}));
}

TEST_F(RestoreAnySize, RefusesWhatDoesNotGoTogether) {
  photograph(20, 20);
  says(run(photo_ + " --denoise --region holes --noise 6", local_), "region holes: a mask");
  says(run(image_ + " --mask " + mask_ + " --region holes --noise 6", eps_),
       "a network for pictures of any size");
  write_png(scratch_, at::full({20, 20}, 255, at::kByte));
  says(run(photo_ + " --mask " + scratch_ + " --region holes --noise 6", local_),
       "region holes: nothing is missing");
  says(run(photo_ + " --motion 90,0 --noise 6", local_), "less than a quarter");
  says(run(photo_ + " --denoise --mask " + scratch_, local_), "got mask and denoise");
  says(run(photo_ + " --bayer rgb --noise 6", local_), "bayer");
  for (const char* wrong : {" --quick --samples 3", " --quick --steps 3", " --region here"})
    EXPECT_EQ(run(photo_ + " --denoise" + wrong, local_).status, 2) << wrong;
}

}  // namespace
}  // namespace eps
