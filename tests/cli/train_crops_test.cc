// eps train on crops of pictures of different sizes, as a user runs it.
#include <nlohmann/json.hpp>

#include "eps/io/images/image.h"
#include "eps/model/checkpoint.h"
#include "tests/cli/train_program.h"

namespace eps {
namespace {

const std::string kNetwork =
    " --data synthetic:size=48,count=6 synthetic:size=40,count=6,seed=1 --tasks super_resolution_4x"
    " --preset tiny --preconditioning anisotropic --batch 16 --preview-images 2 --validation-images"
    " 16 --device cpu ";
const std::string kCrops = kNetwork + "--holdout 4 --crop 16 --reduce 2 --transpose ";

TEST(CropRun, ResumedEqualsUninterrupted) {
  const Folder folder;
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  ASSERT_EQ(eps_train("--out " + whole + kCrops + "--save-every 64 --images 128").status, 0);
  ASSERT_EQ(eps_train("--out " + parts + kCrops + "--save-every 64 --images 64").status, 0);
  const Outcome outcome = eps_train("--resume " + parts + " --images 128");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(difference(whole + state_name(128), parts + state_name(128)), 0);
}

TEST(CropRun, GoesOnWithLargerCropsAndASmallerRate) {
  const Folder folder;
  const std::string run = folder.file("run"), network = run + "/network.safetensors";
  ASSERT_EQ(eps_train("--out " + run + kCrops + "--images 64 --rampup 1").status, 0);
  EXPECT_EQ(read_checkpoint(network).network.config().img_resolution, 16);
  const Outcome outcome =
      eps_train("--resume " + run + " --images 128 --crop 32 --reduce 1 --decay 32 --log-every 16");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Checkpoint model = read_checkpoint(network);
  EXPECT_EQ(model.network.config().img_resolution, 32);
  EXPECT_EQ(model.provenance.images_seen, 128);
  EXPECT_EQ(read_image(run + "/preview-000000000128.png").size(2), 2 * 32 + 3 * 2);
  const auto config = nlohmann::json::parse(get_bytes(run + "/config.json"));
  EXPECT_EQ(config["crop"], 32);
  EXPECT_EQ(config["reduce"], 1);
  EXPECT_EQ(config["transpose"], true);
  std::vector<double> rates;
  for (const auto& line : lines_of(run + "/log.jsonl"))
    if (line.contains("loss") && line["images"] > 64) rates.push_back(line["learning_rate"]);
  EXPECT_EQ(rates, (std::vector<double>{1e-4, 1e-4, 0.5e-4, 0}));
}

TEST(CropRun, WrongInputIsNamedAndNothingIsWritten) {
  const Folder folder;
  const std::string run = folder.file("run");
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = eps_train("--out " + run + kNetwork + "--images 64 " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_FALSE(std::filesystem::exists(run));
    return outcome.output;
  };
  const std::string data = "synthetic:size=48,count=6, synthetic:size=40,count=6,seed=1";
  EXPECT_EQ(refused("--crop 44 --strict"),
            "eps: synthetic:size=40,count=6,seed=1: 0: 40 x 40 pixels are less than a crop of 44 x "
            "44\n");
  EXPECT_EQ(refused("--crop 64"),
            "eps: " + data + ": a crop of 64 x 64 fits into none of 12 pictures\n");
  EXPECT_EQ(refused("--crop 17"),
            "eps: network config: img_resolution must be a multiple of 2, got 17\n");
  EXPECT_EQ(refused("--reduce 2"),
            "eps: training: reduce and transpose are for crops, but crop is 0\n");
}

}  // namespace
}  // namespace eps
