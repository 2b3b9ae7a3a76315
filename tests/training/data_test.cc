// The images of a training run: what is held out, and what does not go together.
#include "eps/training/data.h"

#include "eps/io/images/image.h"
#include "tests/files.h"

namespace eps::training {
namespace {

// An image per class and number, each of its own grey.
void put_classes(const std::string& folder, const std::vector<std::string>& classes) {
  std::filesystem::create_directory(folder);
  int grey = 0;
  for (const auto& name : classes) {
    std::filesystem::create_directory(folder + "/" + name);
    for (int i = 0; i < 4; ++i)
      write_png(folder + "/" + name + "/" + std::to_string(i) + ".png",
                at::full({3, 8, 8}, ++grey, at::kByte));
  }
}

TrainingConfig config_for(const std::string& data) {
  TrainingConfig config;
  config.data = {data};
  return config;
}

TEST(TrainingData, HoldsOutImagesOfAllClassesAndTrainsOnTheOthers) {
  const Folder folder;
  put_classes(folder.file("faces"), {"a", "b", "c", "d"});
  TrainingConfig config = config_for(folder.file("faces"));
  config.holdout = 8;
  const TrainingData data = load_training_data(config, {});
  EXPECT_EQ(data.train->size(), 8);
  EXPECT_EQ(data.held_out->size(), 8);
  EXPECT_EQ(data.held_out->label_width(), 4);
  // Every image once, with its own label: grey 1 to 4 is class 0, and so on.
  std::vector<bool> seen(17);
  const auto& train = dynamic_cast<const Dataset&>(*data.train);
  const auto& held_out = dynamic_cast<const Dataset&>(*data.held_out);
  for (const Dataset* part : {&train, &held_out}) {
    for (int64_t i = 0; i < part->size(); ++i) {
      const auto grey = part->images[i][0][0][0].item<int64_t>();
      EXPECT_FALSE(seen[static_cast<size_t>(grey)]);
      seen[static_cast<size_t>(grey)] = true;
      EXPECT_EQ(part->labels[i].item<int64_t>(), (grey - 1) / 4);
    }
  }
  // Sorted by class, the last eight would be two classes.
  EXPECT_GE(std::get<0>(at::_unique(held_out.labels)).numel(), 3);
}

TEST(TrainingData, RefusesSetsThatDoNotGoTogether) {
  const Folder folder;
  put_classes(folder.file("train"), {"a", "b"});
  put_classes(folder.file("other"), {"b", "c"});
  TrainingConfig config = config_for(folder.file("train"));
  config.validation = {folder.file("other")};
  EXPECT_EQ(error_of([&] { load_training_data(config, {}); }),
            "training: the labels of " + folder.file("other") + " are not those of " +
                folder.file("train") + ": other classes, or labels of another kind");
  config.validation = {"synthetic:size=16,count=4"};
  EXPECT_EQ(error_of([&] { load_training_data(config, {}); }),
            "training: validation images are 3 x 16 x 16, training images 3 x 8 x 8");
  config.validation = {};
  config.holdout = 8;
  EXPECT_EQ(error_of([&] { load_training_data(config, {}); }),
            "training: holdout=8 of 8 images leaves none to train on");
}

TEST(TrainingData, CountsWhatItLeavesOut) {
  const Folder folder;
  put_classes(folder.file("faces"), {"a", "b"});
  put_bytes(folder.file("faces") + "/a/9.png", "no picture");
  std::vector<std::string> said;
  TrainingConfig config = config_for(folder.file("faces"));
  const auto say = [&](const std::string& line) { said.push_back(line); };
  EXPECT_EQ(load_training_data(config, say).train->size(), 8);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("/a/9.png"), std::string::npos) << said[0];
  EXPECT_EQ(said[1], folder.file("faces") + ": 1 images could not be read and are left out");
  config.strict = true;
  EXPECT_NE(error_of([&] { load_training_data(config, say); }).find("/a/9.png"), std::string::npos);
}

}  // namespace
}  // namespace eps::training
