// Training on crops of pictures: what is loaded, drawn and resumed.
#include <gtest/gtest.h>

#include <cmath>

#include "eps/io/images/image.h"
#include "eps/training/data.h"
#include "tests/files.h"
#include "tests/training/training_session.h"

namespace eps::training {
namespace {

const std::vector<std::string> kTwoSizes = {"synthetic:size=48,count=4",
                                            "synthetic:size=40,count=3,seed=1"};

TrainingConfig cropped(int64_t side, const std::vector<std::string>& data = kTwoSizes) {
  TrainingConfig config = tiny("eps", {"super_resolution_4x"});
  config.data = data;
  config.crop = side;
  config.preconditioning = "anisotropic";
  return config;
}

Crops crops_of(const TrainingConfig& config) {
  return {read_pictures(config.data, {}), crop_options(config)};
}

// Pictures of these sizes, each of its own grey.
void put_pictures(const std::string& folder,
                  const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  std::filesystem::create_directory(folder);
  int64_t grey = 0;
  for (const auto& [height, width] : sizes) {
    ++grey;
    write_png(folder + "/" + std::to_string(grey) + ".png",
              at::full({3, height, width}, grey, at::kByte));
  }
}

// The greys of an epoch's images, each with the number of its images.
std::map<int64_t, int64_t> greys(const ImageSet& set) {
  const BatchSource source(set, {.input = NetworkInput::prior}, at::kCPU);
  const Tensor x0 = source.draw(0, set.size()).groups[0].x0;
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < x0.size(0); ++i) ++counts[to_uint8(x0[i]).max().item<int64_t>()];
  return counts;
}

TEST(CropTraining, AnEpochHasEachPictureInProportionToItsArea) {
  const Folder folder;
  put_pictures(folder.file("p"), {{8, 8}, {16, 24}, {20, 9}, {7, 100}});
  TrainingConfig config = cropped(8, {folder.file("p")});
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  const TrainingData data = load_training_data(config, say);
  EXPECT_EQ(data.held_out, nullptr);
  EXPECT_EQ(greys(*data.train), (std::map<int64_t, int64_t>{{1, 1}, {2, 6}, {3, 2}}));
  EXPECT_EQ(said,
            (std::vector<std::string>{
                folder.file("p/4.png") + ": 100 x 7 pixels are less than a crop of 8 x 8",
                folder.file("p") + ": 1 pictures are smaller than a crop and are left out"}));
  config.strict = true;
  EXPECT_EQ(error_of([&] { load_training_data(config, say); }), said[0]);
}

// Larger crops leave pictures out, and yet no picture that was held out is trained on.
TEST(CropTraining, PicturesAreHeldOutWhateverTheCrop) {
  const Folder folder;
  put_pictures(folder.file("p"), {{8, 8}, {9, 9}, {30, 30}, {31, 31}, {32, 32}, {33, 33}});
  TrainingConfig config = cropped(8, {folder.file("p")});
  config.holdout = 3;
  const auto held_out = [&](int64_t side) {
    config.crop = side;
    const TrainingData data = load_training_data(config, {});
    EXPECT_EQ(data.train->pictures(), 3);
    EXPECT_EQ(data.held_out->pictures(), 3);
    std::map<int64_t, int64_t> all = greys(*data.train);
    const std::map<int64_t, int64_t> counts = greys(*data.held_out);
    for (const auto& [grey, count] : counts) EXPECT_FALSE(all.contains(grey)) << grey;
    return counts;
  };
  const std::map<int64_t, int64_t> small = held_out(8);
  EXPECT_EQ(small.size(), 3u);
  for (const auto& [grey, count] : held_out(16)) EXPECT_TRUE(small.contains(grey)) << grey;
  config.holdout = 6;
  EXPECT_EQ(error_of([&] { load_training_data(config, {}); }),
            "training: holdout=6 of 6 images leaves none to train on");
  config.validation = {"synthetic:size=24,count=4,channels=1"};
  EXPECT_EQ(error_of([&] { load_training_data(config, {}); }),
            "training: validation images are 1 x 16 x 16, training images 3 x 16 x 16");
}

TEST(CropTraining, ImagesDoNotDependOnTheirBatch) {
  TrainingConfig config = cropped(16);
  config.reduce = 2;
  config.transpose = true;
  const Crops crops = crops_of(config);
  const BatchSource source(crops, batch_options(config), at::kCPU);
  const int64_t n = 3 * crops.size();  // over the ends of epochs
  const TrainingGroup whole = source.draw(0, n).groups[0];
  for (const int64_t first : {int64_t{0}, crops.size() - 3, n - 5}) {
    const TrainingGroup part = source.draw(first, 5).groups[0];
    EXPECT_TRUE(identical(part.x0, whole.x0.slice(0, first, first + 5)));
    EXPECT_TRUE(identical(part.problem.y, whole.problem.y.slice(0, first, first + 5)));
    EXPECT_TRUE(identical(part.query.x, whole.query.x.slice(0, first, first + 5)));
  }
  // The same place in the next epoch is another crop.
  EXPECT_FALSE(source.draw(0, crops.size())
                   .groups[0]
                   .x0.equal(source.draw(crops.size(), crops.size()).groups[0].x0));
}

TEST(CropTraining, ValidationIsTheSameEachTime) {
  TrainingConfig config = cropped(16);
  config.validation = {"synthetic:size=32,count=4,seed=2"};
  config.transpose = true;
  const TrainingData data = load_training_data(config, {});
  Session session(config, dynamic_cast<const Crops&>(*data.train));
  session.steps(2);
  BatchOptions options = batch_options(config);
  options.seed = kHeldOutSeed;
  const BatchSource held_out(*data.held_out, options, at::kCPU);
  const auto loss = [&] {
    return validation_loss(session.trainer.average(), held_out, data.held_out->size(), 8, {}).all;
  };
  EXPECT_EQ(loss(), loss());
}

// The weights go on as they are, under the names of another resolution, with the spectrum of the
// larger crops.
TEST(CropTraining, ARunGoesOnWithLargerCrops) {
  const Folder folder;
  TrainingConfig config = cropped(16);
  Session before(config, crops_of(config));
  before.steps(3);
  const Safetensors state = before.trainer.state();
  config.crop = 32;
  check_resumable(cropped(16), config);
  const Crops larger = crops_of(config);
  const Checkpoint start = resumed_network(Trainer::network_in(state, "state"), config, larger);
  EXPECT_EQ(start.network.config().img_resolution, 32);
  EXPECT_EQ(start.preconditioning.spectrum.sizes(), (Shape{32, 17}));
  check_fits(start.network.config(), larger, "run");
  const BatchSource source(larger, batch_options(config), at::kCPU);
  Trainer trainer(start, source, trainer_options(config));
  trainer.restore(state);
  EXPECT_EQ(trainer.images_seen(), 3 * 8);
  const auto flat = [](const Checkpoint& model) { return model.network.clone().flatten(); };
  EXPECT_TRUE(identical(flat(trainer.network()), flat(before.trainer.network())));
  EXPECT_TRUE(identical(flat(trainer.average()), flat(before.trainer.average())));
  for (int i = 0; i < 3; ++i) trainer.step();
  EXPECT_TRUE(trainer.report().loss.finite);
  EXPECT_FALSE(flat(trainer.network()).equal(flat(before.trainer.network())));
  // And on from there, with the same crops.
  Session after(config, larger);
  after.trainer.restore(trainer.state());
  EXPECT_TRUE(identical(flat(after.trainer.network()), flat(trainer.network())));
}

TEST(CropTraining, RefusesWhatDoesNotGoTogether) {
  TrainingConfig config = cropped(16);
  Session session(config, crops_of(config));
  const Safetensors state = session.trainer.state();
  config.data.pop_back();
  Session fewer(config, crops_of(config));
  EXPECT_EQ(error_of([&] { fewer.trainer.restore(state); }),
            "training state: made with a data set of 7 images, which cannot become 4");
  const auto resolve = [](const std::function<void(TrainingConfig&)>& change) {
    TrainingConfig changed = cropped(16);
    change(changed);
    return error_of([&] { resolved(changed); });
  };
  EXPECT_EQ(resolve([](auto& c) { c.crop = -1; }), "training: crop must be at least 0, got -1");
  EXPECT_EQ(resolve([](auto& c) { c.reduce = 0.5; }),
            "training: reduce must be at least 1, got 0.5");
  EXPECT_EQ(resolve([](auto& c) { c.crop = 0, c.reduce = 2; }),
            "training: reduce and transpose are for crops, but crop is 0");
  EXPECT_EQ(error_of([&] {
              TrainingConfig odd = cropped(17);
              initial_network(odd, crops_of(odd));
            }),
            "network config: img_resolution must be a multiple of 2, got 17");
  // A network starts on images of its own side.
  const Folder folder;
  TrainingConfig other = cropped(32);
  other.start = folder.file("a.safetensors");
  write_checkpoint(other.start, session.trainer.average());
  EXPECT_EQ(error_of([&] { initial_network(other, crops_of(other)); }),
            other.start + ": a network for 16 pixels a side; the data have 32");
}

}  // namespace
}  // namespace eps::training
