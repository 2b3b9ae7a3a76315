// Reading of data sets: joins the labels of the sources, and decodes their images.
#include "eps/data/dataset.h"

#include <algorithm>
#include <cmath>

#include "eps/data/decoder.h"
#include "eps/data/upload.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"

namespace eps {

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
  JoinedLabels joined = join_labels(opened);
  dataset.labels = joined.labels;
  dataset.label_dim = joined.label_dim;
  dataset.class_names = std::move(joined.class_names);
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

Tensor byte_counts(const Tensor& image) {
  std::vector<Tensor> counts;
  for (const Tensor& channel : image.unbind(0))
    counts.push_back(at::bincount(channel.flatten(), {}, 256).cpu());
  return at::stack(counts);
}

ChannelMoments moments_of(const Tensor& counts) {
  const Tensor value = from_uint8(at::arange(256, at::kByte)).to(at::kDouble);
  ChannelMoments moments;
  for (const Tensor& channel : counts.unbind(0)) {
    const Tensor weight = channel.to(at::kDouble) / channel.sum();
    const double mean = (weight * value).sum().item<double>();
    moments.mean.push_back(mean);
    moments.std.push_back(std::sqrt((weight * (value - mean).square()).sum().item<double>()));
  }
  return moments;
}

ChannelMoments channel_moments(const Tensor& images) {
  check(images.dim() == 4 && images.scalar_type() == at::kByte && images.numel() > 0,
        "channel_moments: uint8 images of N x C x H x W are wanted, got ",
        to_string(images.sizes()));
  return moments_of(byte_counts(images.transpose(0, 1)));
}

}  // namespace eps
