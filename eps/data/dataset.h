// Data sets: all images of one shape, with their labels, in memory.
#pragma once

#include "eps/base/spec.h"
#include "eps/data/image_set.h"

namespace eps {

struct Dataset final : ImageSet {
  std::string name;       // origin of the images, for messages and provenance
  Tensor images;          // (N, C, H, W): uint8, or float32 in [-1, 1]
  Tensor labels;          // int64 (N) class numbers, or float32 (N, label_dim); undefined: none
  int64_t label_dim = 0;  // classes, or the length of a label vector; 0: no labels
  int64_t skipped = 0;    // images that could not be read
  std::vector<std::string> class_names = {};  // where classes have names

  int64_t size() const override { return images.defined() ? images.size(0) : 0; }
  int64_t pictures() const override { return size(); }
  Shape image_shape() const override { return images.sizes().slice(1).vec(); }
  int64_t label_width() const override { return label_dim; }
  LabelledImages draw(const std::vector<int64_t>& places,
                      Rng& rng,
                      at::Device device) const override;
  int64_t bytes() const override { return static_cast<int64_t>(images.nbytes()); }
  void to(at::Device device) override;
};

struct DatasetOptions {
  int64_t size = 0;          // side in pixels; 0: unchanged, and then all sizes must agree
  std::string fit = "crop";  // crop: the largest centred square, resized; resize: stretched
  int64_t channels = 0;      // 1 or 3: converted; 0: as the first image, and then all must agree
  bool strict = false;       // an unreadable image is an error, not skipped and counted
  int64_t limit = 0;         // images to read from the start, skipped images included; 0: all
  std::function<void(const std::string&)> report = {};  // one line per skipped image
};

// Reads one data set from several sources, in the order of the sources. A source is one of
//   a folder of images (PNG, JPEG), with all folders below it;
//   a ZIP archive of images in EDM's format;
//   "synthetic" or "synthetic:key=value,...", images drawn on the spot (see synthetic_fields()).
// The images of a source are sorted by name. A dataset.json at the top of a folder or archive,
//   {"labels": [["00000/img00000000.png", 6], ...]} or {"labels": null},
// gives the labels: class numbers, or vectors of numbers. Without that file, where all images are
// in folders and there are several folders, the folders at the top are the classes, in the order of
// their names.
Dataset read_dataset(const std::vector<std::string>& sources, const DatasetOptions& options);

// Throws an Error unless all values are finite and in [-1, 1]; `name` is for messages.
void check_image_range(const Tensor& images, const std::string& name);

// Returns the names of the sources for a network that may be published: files without their
// folders, specs (such as synthetic:...) unchanged.
std::string names_of_sources(const std::vector<std::string>& sources);

// Returns the fields of "synthetic:...".
const std::vector<Field>& synthetic_fields();

// Writes square uint8 images as an archive that read_dataset() and EDM read, with the same pixels
// and labels. dataset.json comes last.
void write_edm_zip(const std::string& path, const Dataset& dataset);

// `ChannelMoments` holds the mean and standard deviation of each channel of uint8 images, as
// numbers in [-1, 1].
struct ChannelMoments {
  std::vector<double> mean, std;
};
ChannelMoments channel_moments(const Tensor& images);

// Counts the bytes of an image (C, ...) by channel and value, (C, 256). Counts of several images
// add up, and moments_of() returns the moments of all, exactly and without a copy as floats.
Tensor byte_counts(const Tensor& image);
ChannelMoments moments_of(const Tensor& counts);

}  // namespace eps
