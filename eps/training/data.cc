// The images of a training run.
#include "eps/training/data.h"

#include <fmt/format.h>

#include "eps/data/shuffle.h"

namespace eps::training {
namespace {

constexpr int64_t kDatasetOnGpu = int64_t{16} << 30;  // the most bytes of images on a GPU

// Returns the images at these places.
Dataset chosen(const Dataset& data, const Tensor& places) {
  Dataset part = data;
  part.images = data.images.index_select(0, places);
  if (data.labels.defined()) part.labels = data.labels.index_select(0, places);
  return part;
}

// Both sets must have images of one shape and the same classes; fewer classes may occur in the
// smaller one.
void check_alike(const Dataset& train, const Dataset& held_out) {
  const auto shape = [](const Dataset& data) { return data.images.sizes().slice(1); };
  check(shape(held_out) == shape(train),
        "training: validation images are ",
        to_string(shape(held_out)),
        ", training images ",
        to_string(shape(train)));
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

}  // namespace

TrainingData load_training_data(const TrainingConfig& config,
                                const std::function<void(const std::string&)>& say) {
  const auto read = [&](const std::vector<std::string>& sources) {
    const Dataset data = read_dataset(
        sources, {.size = config.size, .fit = config.fit, .strict = config.strict, .report = say});
    if (data.skipped > 0 && say)
      say(fmt::format("{}: {} images could not be read and are left out", data.name, data.skipped));
    return data;
  };
  TrainingData data{.train = read(config.data), .held_out = {}};
  if (!config.validation.empty()) {
    data.held_out = read(config.validation);
    check_alike(data.train, data.held_out);
    data.held_out.label_dim = data.train.label_dim;
  } else if (config.holdout > 0) {
    const int64_t all = data.train.size(), kept = all - config.holdout;
    check(kept > 0,
          "training: holdout=",
          config.holdout,
          " of ",
          all,
          " images leaves none to train on");
    // Held-out images come from everywhere in the set, which may be sorted by class.
    const Tensor order = at::tensor(Shuffle(all, kHeldOutSeed).at(0, all), at::kLong);
    data.held_out = chosen(data.train, order.slice(0, kept));
    data.train = chosen(data.train, order.slice(0, 0, kept));
  }
  return data;
}

void keep_near(ImageSet& data, at::Device device) {
  if (!device.is_cpu() && data.bytes() <= kDatasetOnGpu) data.to(device);
}

}  // namespace eps::training
