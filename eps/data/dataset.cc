// Reading of data sets: joins the labels of the sources, and decodes their images.
#include "eps/data/dataset.h"

#include <algorithm>
#include <cmath>

#include "eps/data/decoder.h"
#include "eps/data/upload.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"

namespace eps {
namespace {

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
  const c10::NoGradGuard no_grad;
  const std::vector<ImageSource> opened = open_sources(sources, options);
  Dataset dataset;
  dataset.name = names_of(opened);
  join_labels(opened, dataset);
  Decoder decoder(opened, options, Decoder::Sizes::one);
  Shape shape = decoder.first().sizes().vec();
  shape.insert(shape.begin(), decoder.count());
  dataset.images = at::empty(shape, at::kByte);
  decoder.run(0, decoder.count(), [&](const Decoder::Decoded& decoded) {
    dataset.images[decoded.number].copy_(decoded.image);
  });
  const std::vector<int64_t> kept = decoder.kept();
  dataset.skipped = decoder.count() - std::ssize(kept);
  const Tensor index = at::tensor(kept, at::kLong);
  if (dataset.skipped > 0) dataset.images = dataset.images.index_select(0, index);
  if (dataset.labels.defined()) dataset.labels = dataset.labels.index_select(0, index);
  decoder.report_faults();
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
