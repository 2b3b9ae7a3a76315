// Reading of data sets: opens the sources, joins their labels, decodes the images in parallel.
#include "eps/data/dataset.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>

#include "eps/data/sources/source.h"
#include "eps/data/upload.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/io/images/resize.h"

namespace eps {
namespace {

constexpr int64_t kMaxSide = 8192;

void validate(const std::vector<std::string>& sources, const DatasetOptions& options) {
  check(!sources.empty(), "data set: at least one source is wanted");
  std::set<std::string> seen;
  for (const auto& source : sources) check(seen.insert(source).second, source, ": is given twice");
  check(options.size >= 0 && options.size <= kMaxSide,
        "data set: the size must be 0 to ",
        kMaxSide,
        ", got ",
        options.size);
  check(options.fit == "crop" || options.fit == "resize",
        "data set: fit is crop or resize, got ",
        options.fit);
  check(options.channels == 0 || options.channels == 1 || options.channels == 3,
        "data set: channels is 0, 1 or 3, got ",
        options.channels);
  check(options.limit >= 0, "data set: the limit must be at least 0, got ", options.limit);
}

bool is_synthetic(const std::string& source) {
  return source == "synthetic" || source.starts_with("synthetic:");
}

ImageSource open_source(const std::string& source, const DatasetOptions& options) {
  if (is_synthetic(source)) return open_synthetic(source, options);
  // Without a status the path is opened as a file, which throws the reason.
  std::error_code ignored;
  if (std::filesystem::is_directory(source, ignored)) return open_image_folder(source);
  return open_edm_zip(source);
}

std::string describe_labels(const ImageSource& source) {
  if (!source.labels.defined()) return "no labels";
  if (source.labels.dim() == 1) return "class numbers";
  return "labels of " + std::to_string(source.label_dim) + " numbers";
}

// Joins the labels of all sources, and sets their width.
void join_labels(const std::vector<ImageSource>& sources, Dataset& dataset) {
  const ImageSource& first = sources.front();
  std::vector<Tensor> labels;
  for (const ImageSource& source : sources) {
    const std::string here = describe_labels(source), there = describe_labels(first);
    check(here == there, source.name, " has ", here, ", but ", first.name, " has ", there);
    check(source.class_names.empty() || first.class_names.empty() ||
              source.class_names == first.class_names,
          source.name,
          ": its classes have other names than those of ",
          first.name);
    dataset.label_dim = std::max(dataset.label_dim, source.label_dim);
    labels.push_back(source.labels);
  }
  if (first.labels.defined()) dataset.labels = at::cat(labels);
  dataset.class_names = first.class_names;
}

// Returns the image at the size and number of channels of the options: uint8 (C, H, W).
Tensor fit(Tensor image, const DatasetOptions& options) {
  if (options.size > 0) {
    const int64_t height = image.size(1), width = image.size(2), side = std::min(height, width);
    if (options.fit == "crop") {
      image = image.narrow(1, (height - side) / 2, side).narrow(2, (width - side) / 2, side);
    }
    image = resize_lanczos(image, options.size, options.size);
  }
  if (options.channels == 3 && image.size(0) == 1) return image.expand({3, -1, -1});
  if (options.channels == 1 && image.size(0) == 3) {
    return (image.sum(0, true, at::kInt) + 1).div_(3, "floor").to(at::kByte);
  }
  return image;
}

// A `Decoder` decodes the images of several sources, numbered consecutively.
class Decoder {
 public:
  Decoder(const std::vector<ImageSource>& sources, const DatasetOptions& options)
      : sources_(sources), options_(options) {
    for (const ImageSource& source : sources) {
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + source.image_names.size());
    }
    count_ = ends_.back();
    if (options.limit > 0) count_ = std::min(count_, static_cast<size_t>(options.limit));
    faults_.resize(count_);
  }

  size_t count() const { return count_; }

  // Returns the readable images (N, C, H, W), and their numbers in `kept`.
  Tensor run(std::vector<int64_t>& kept) {
    const Tensor first = find_first();
    reference_ = first.sizes().vec();
    Shape shape = reference_;
    shape.insert(shape.begin(), static_cast<int64_t>(count_));
    const Tensor images = at::empty(shape, at::kByte);
    const auto begin = static_cast<int64_t>(first_);
    images[begin].copy_(first);
    at::parallel_for(begin + 1, images.size(0), 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) decode_to(images, i);
    });
    if (fatal_ < count_) throw Error(faults_[fatal_]);
    for (size_t i = 0; i < count_; ++i) {
      if (faults_[i].empty()) kept.push_back(static_cast<int64_t>(i));
    }
    if (kept.size() == count_) return images;
    return images.index_select(0, at::tensor(kept, at::kLong));
  }

  // Returns the reason for each skipped image, in order.
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    for (const auto& fault : faults_) {
      if (!fault.empty()) found.push_back(fault);
    }
    return found;
  }

 private:
  // Returns the source of image i, and the number of the image within that source.
  std::pair<const ImageSource&, size_t> locate(size_t i) const {
    const auto source =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), i) - ends_.begin());
    return {sources_[source], source == 0 ? i : i - ends_[source - 1]};
  }

  // Returns the image, or an undefined tensor after recording the reason why it cannot be read.
  Tensor decode(size_t i) {
    const auto [source, number] = locate(i);
    Tensor image;
    try {
      image = source.read(number);
    } catch (const Error& error) {
      if (options_.strict) throw;
      faults_[i] = error.what();
      return {};
    }
    return fit(std::move(image), options_);
  }

  // Returns the first readable image, whose shape all other images must have.
  Tensor find_first() {
    for (; first_ < count_; ++first_) {
      if (Tensor image = decode(first_); image.defined()) return image;
    }
    fail("none of ", count_, " images can be read; the first: ", faults_[0]);
  }

  void check_shape(const Tensor& image, size_t i) const {
    if (image.sizes() == at::IntArrayRef(reference_)) return;
    const auto [source, number] = locate(i);
    const auto [first_source, first_number] = locate(first_);
    const bool channels = image.size(0) != reference_[0];
    fail(source.image_names[number],
         ": the image is ",
         to_string(image.sizes()),
         ", but ",
         first_source.image_names[first_number],
         " is ",
         to_string(reference_),
         channels ? "; ask for 1 or 3 channels to convert them"
                  : "; ask for a size to convert them");
  }

  // Decodes one image into its row. Of several errors the error of the first image is kept,
  // whatever the order of the threads: images after that one need not be read any more, images
  // before it are.
  void decode_to(const Tensor& images, int64_t index) {
    const auto i = static_cast<size_t>(index);
    if (i > fatal_) return;
    try {
      const Tensor image = decode(i);
      if (!image.defined()) return;
      check_shape(image, i);
      images[index].copy_(image);
    } catch (const Error& error) {
      faults_[i] = error.what();
      size_t known = fatal_;
      while (i < known && !fatal_.compare_exchange_weak(known, i)) {
      }
    }
  }

  const std::vector<ImageSource>& sources_;
  const DatasetOptions& options_;
  std::vector<size_t> ends_;  // end of each source, in numbers of images
  size_t count_ = 0;
  size_t first_ = 0;  // first readable image
  Shape reference_;
  std::vector<std::string> faults_;  // fault of each image; empty: none
  std::atomic<size_t> fatal_ = std::numeric_limits<size_t>::max();
};

}  // namespace

LabelledImages Dataset::draw(const std::vector<int64_t>& places, Rng&, at::Device device) const {
  const Tensor index = upload(at::tensor(places, at::kLong), images.device());
  const Tensor chosen = upload(images.index_select(0, index), device);
  LabelledImages drawn;
  drawn.images = chosen.scalar_type() == at::kByte ? from_uint8(chosen) : chosen.to(at::kFloat);
  if (label_dim == 0) return drawn;
  const Tensor own = upload(labels.index_select(0, index), device);
  drawn.labels = own.dim() == 1 ? at::one_hot(own, label_dim).to(at::kFloat) : own;
  return drawn;
}

void Dataset::to(at::Device device) {
  images = images.to(device);
  if (labels.defined()) labels = labels.to(device);
}

Dataset read_dataset(const std::vector<std::string>& sources, const DatasetOptions& options) {
  validate(sources, options);
  const c10::NoGradGuard no_grad;
  Dataset dataset;
  std::vector<ImageSource> opened;
  for (const auto& source : sources) {
    opened.push_back(open_source(source, options));
    check(!opened.back().image_names.empty(), source, ": holds no images (.png, .jpg, .jpeg)");
    dataset.name += (dataset.name.empty() ? "" : ", ") + source;
  }
  join_labels(opened, dataset);
  Decoder decoder(opened, options);
  std::vector<int64_t> kept;
  dataset.images = decoder.run(kept);
  dataset.skipped = static_cast<int64_t>(decoder.count() - kept.size());
  if (dataset.labels.defined()) {
    dataset.labels = dataset.labels.index_select(0, at::tensor(kept, at::kLong));
  }
  if (options.report) {
    for (const auto& fault : decoder.faults()) options.report(fault);
  }
  return dataset;
}

void check_image_range(const Tensor& images, const std::string& name) {
  require_finite(images, name);
  const double low = images.min().item<double>(), high = images.max().item<double>();
  check(low >= -1.01 && high <= 1.01,
        name,
        ": images are wanted in [-1, 1], found values from ",
        low,
        " to ",
        high);
}

std::string names_of_sources(const std::vector<std::string>& sources) {
  std::string names;
  for (const auto& source : sources) {
    std::filesystem::path path = source;
    if (!path.has_filename()) path = path.parent_path();
    names += names.empty() ? "" : ", ";
    names += is_synthetic(source) ? source : path.filename().string();
  }
  return names;
}

ChannelMoments channel_moments(const Tensor& images) {
  check(images.dim() == 4 && images.scalar_type() == at::kByte && images.numel() > 0,
        "channel_moments: uint8 images of N x C x H x W are wanted, got ",
        to_string(images.sizes()));
  const Tensor value = from_uint8(at::arange(256, at::kByte)).to(at::kDouble);
  ChannelMoments moments;
  for (int64_t c = 0; c < images.size(1); ++c) {
    // The histogram of the bytes gives both moments, exactly and without a copy as floats.
    const Tensor counts = at::bincount(images.select(1, c).flatten(), {}, 256).cpu();
    const Tensor weight = counts.to(at::kDouble) / images.select(1, c).numel();
    const double mean = (weight * value).sum().item<double>();
    moments.mean.push_back(mean);
    moments.std.push_back(std::sqrt((weight * (value - mean).square()).sum().item<double>()));
  }
  return moments;
}

}  // namespace eps
