// Networks of other programs in the verbs of the program.
#include <gtest/gtest.h>

#include "eps/io/npy.h"
#include "tests/model/foreign_networks.h"
#include "tests/program.h"

namespace eps {
namespace {

class ForeignPrograms : public testing::TestWithParam<const char*> {
 protected:
  Outcome eps(const std::string& arguments) const { return run_program(EPS_PROGRAM, arguments); }
  const Folder folder_;
  const std::string model_ = write_foreign(folder_, foreign_network(GetParam()));
};

// Both ways of giving the network: as it is, and converted.
TEST_P(ForeignPrograms, ServeZeroShotMethods) {
  const std::string ours = folder_.file("ours.safetensors");
  const Outcome converted = eps("convert " + model_ + " " + ours);
  ASSERT_EQ(converted.status, 0) << converted.output;
  Tensor samples;
  for (const std::string& model : {model_, ours}) {
    const std::string out = folder_.file("run");
    std::filesystem::remove_all(out);
    const Outcome run = eps("run pigdm --model " + model +
                            " --images synthetic:size=16,count=2 --task super_resolution_4x "
                            "--samples 1 --steps 3 --threads 1 --device cpu --out " +
                            out);
    ASSERT_EQ(run.status, 0) << run.output;
    const Tensor own = read_npy(out + "/samples.npy");
    EXPECT_TRUE(own.isfinite().all().item<bool>());
    EXPECT_TRUE(!samples.defined() || identical(own, samples));
    samples = own;
  }
  const std::string y = folder_.file("y.npy"), restored = folder_.file("restored");
  write_npy(y, samples[0][0]);
  const Outcome outcome =
      eps("restore " + y + " --simulate --downscale 4 --method dps --model " + model_ +
          " --samples 2 --steps 3 --threads 1 --device cpu --out " + restored);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(read_npy(restored + "/mean.npy").sizes(), at::IntArrayRef({3, 16, 16}));
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         ForeignPrograms,
                         ::testing::Values("adm_ffhq", "adm_convolutions", "unet2d_old"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ForeignProgram, ShowsHowAFileIsRead) {
  const Folder folder;
  write_safetensors(folder.file("a.safetensors"), foreign_network("adm_classes").state);
  const Outcome show =
      run_program(EPS_PROGRAM, "convert --show --json " + folder.file("a.safetensors"));
  ASSERT_EQ(show.status, 0) << show.output;
  const auto shown = nlohmann::json::parse(show.output);
  EXPECT_EQ(shown["metadata"]["family"], "guided_diffusion");
  EXPECT_EQ(shown["metadata"]["read_as"]["label_dim"], 5);
  EXPECT_EQ(shown["metadata"]["read_as"]["beta_schedule"], "linear");
  const Outcome list = run_program(EPS_PROGRAM, "list models");
  for (const char* word : {"guided_diffusion", "head_channels", "diffusers", "torchscript"})
    EXPECT_NE(list.output.find(word), std::string::npos) << list.output;
}

TEST(ForeignProgram, MisspelledFamiliesAndFilesThatAreNotThereEndWithOneLine) {
  for (const auto& [model, words] :
       {std::pair{"guided_difusion:file=a.pt", "did you mean \"guided_diffusion\"?"},
        {"diffusers:file=nowhere", "nowhere: cannot open"},
        {"torchscript:file=nowhere.pt,size=8", "no TorchScript"}}) {
    const Outcome outcome =
        run_program(EPS_PROGRAM, std::string("sample ") + model + " --seeds 0 --out a.npy");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
  }
}

}  // namespace
}  // namespace eps
