// The images of a training run.
#include "eps/training/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "eps/data/crops.h"
#include "eps/data/shuffle.h"

namespace eps::training {
namespace {

constexpr int64_t kDatasetOnGpu = int64_t{16} << 30;  // the most bytes of images on a GPU

using Say = std::function<void(const std::string&)>;

// Returns the images at these places.
Dataset chosen(const Dataset& data, const std::vector<int64_t>& places) {
  const Tensor index = at::tensor(places, at::kLong);
  Dataset part = data;
  part.images = data.images.index_select(0, index);
  if (data.labels.defined()) part.labels = data.labels.index_select(0, index);
  return part;
}

// A `Split` holds the images to train on and those held out. The latter come from everywhere in the
// set, which may be sorted by class.
struct Split {
  std::vector<int64_t> train, held_out;
};

Split split(int64_t all, int64_t holdout) {
  const int64_t kept = all - holdout;
  check(kept > 0, "training: holdout=", holdout, " of ", all, " images leaves none to train on");
  const std::vector<int64_t> order = Shuffle(all, kHeldOutSeed).at(0, all);
  return {{order.begin(), order.begin() + kept}, {order.begin() + kept, order.end()}};
}

void check_shapes(const ImageSet& train, const ImageSet& held_out) {
  check(held_out.image_shape() == train.image_shape(),
        "training: validation images are ",
        to_string(held_out.image_shape()),
        ", training images ",
        to_string(train.image_shape()));
}

// Both sets must have the same classes; fewer may occur in the smaller one.
void check_labels(const Dataset& train, const Dataset& held_out) {
  const auto kind = [](const Dataset& data) {
    return data.labels.defined() ? data.labels.dim() : 0;
  };
  const bool widths = kind(train) == 1 ? held_out.label_dim <= train.label_dim
                                       : held_out.label_dim == train.label_dim;
  check(kind(held_out) == kind(train) && widths && held_out.class_names == train.class_names,
        "training: the labels of ",
        held_out.name,
        " are not those of ",
        train.name,
        ": other classes, or labels of another kind");
}

DatasetOptions reading(const TrainingConfig& config, const Say& say) {
  return {.size = config.size, .fit = config.fit, .strict = config.strict, .report = say};
}

void say_skipped(const std::string& name, int64_t skipped, const Say& say) {
  if (skipped > 0 && say)
    say(fmt::format("{}: {} images could not be read and are left out", name, skipped));
}

TrainingData load_images(const TrainingConfig& config, const Say& say) {
  const auto read = [&](const std::vector<std::string>& sources) {
    Dataset data = read_dataset(sources, reading(config, say));
    say_skipped(data.name, data.skipped, say);
    return data;
  };
  Dataset train = read(config.data), held_out;
  if (!config.validation.empty()) {
    held_out = read(config.validation);
    check_shapes(train, held_out);
    check_labels(train, held_out);
    held_out.label_dim = train.label_dim;
  } else if (config.holdout > 0) {
    const Split parts = split(train.size(), config.holdout);
    held_out = chosen(train, parts.held_out);
    train = chosen(train, parts.train);
  }
  TrainingData data;
  data.train = std::make_unique<Dataset>(std::move(train));
  if (held_out.size() > 0) data.held_out = std::make_unique<Dataset>(std::move(held_out));
  return data;
}

// Names the pictures that are smaller than a crop. They stay, so that the others are split alike
// for crops of any side.
void say_small(const Pictures& pictures, const TrainingConfig& config, const Say& say) {
  std::vector<std::string> faults;
  for (const Frame& frame : pictures.frames)
    if (std::min(frame.height, frame.width) < config.crop)
      faults.push_back(fmt::format("{}: {} x {} pixels are less than a crop of {} x {}",
                                   frame.name,
                                   frame.width,
                                   frame.height,
                                   config.crop,
                                   config.crop));
  // A set without any crop is refused as a whole.
  if (faults.empty() || std::ssize(faults) == pictures.size()) return;
  check(!config.strict, faults[0]);
  if (!say) return;
  for (const auto& fault : faults) say(fault);
  say(fmt::format(
      "{}: {} pictures are smaller than a crop and are left out", pictures.name, faults.size()));
}

TrainingData load_crops(const TrainingConfig& config, const Say& say) {
  const auto read = [&](const std::vector<std::string>& sources) {
    Pictures pictures = read_pictures(sources, reading(config, say));
    say_skipped(pictures.name, pictures.skipped, say);
    say_small(pictures, config, say);
    return pictures;
  };
  Pictures train = read(config.data), held_out;
  if (!config.validation.empty()) {
    held_out = read(config.validation);
  } else if (config.holdout > 0) {
    const Split parts = split(train.size(), config.holdout);
    held_out = train.chosen(parts.held_out);
    train = train.chosen(parts.train);
  }
  TrainingData data;
  CropOptions options = crop_options(config);
  data.train = std::make_unique<Crops>(std::move(train), options);
  if (held_out.size() == 0) return data;
  options.transpose = false;
  data.held_out = std::make_unique<Crops>(std::move(held_out), options);
  check_shapes(*data.train, *data.held_out);
  return data;
}

}  // namespace

TrainingData load_training_data(const TrainingConfig& config, const Say& say) {
  return config.crop > 0 ? load_crops(config, say) : load_images(config, say);
}

void keep_near(ImageSet& data, at::Device device) {
  if (!device.is_cpu() && data.bytes() <= kDatasetOnGpu) data.to(device);
}

}  // namespace eps::training
