// Sources of images for read_dataset(): names, labels, and a function that reads each image.
#pragma once

#include "eps/base/spec.h"
#include "eps/data/dataset.h"

namespace eps {

struct ImageSource {
  std::string name;                      // as given by the user
  std::vector<std::string> files;        // names of the images, relative to the top of the source
  std::vector<std::string> image_names;  // for messages
  // Returns image i as uint8 (C, H, W), from any thread. Throws an Error if the image cannot be
  // read.
  std::function<Tensor(size_t i)> read;
  // Returns the bytes of the file of image i, likewise; absent where images come from no files.
  std::function<std::string(size_t i)> bytes;
  Tensor labels;                         // int64 (N) or float32 (N, label_dim); undefined: none
  int64_t label_dim = 0;                 // classes, or numbers per label
  std::vector<std::string> class_names;  // empty: no names; two sources must agree
};

// Opens the sources of a data set, after a check of the options; none may be empty.
std::vector<ImageSource> open_sources(const std::vector<std::string>& sources,
                                      const DatasetOptions& options);
// Returns the names of the sources for messages, as the user gave them.
std::string names_of(const std::vector<ImageSource>& sources);

// A `JoinedLabels` holds the labels of all sources, which must be of one kind and have the same
// class names, if any.
struct JoinedLabels {
  Tensor labels = {};
  int64_t label_dim = 0;
  std::vector<std::string> class_names = {};
};
JoinedLabels join_labels(const std::vector<ImageSource>& sources);
// Throws an Error where a dataset.json gives labels; classes by folders have names.
void refuse_labels(const std::vector<ImageSource>& sources);

ImageSource open_image_folder(const std::string& path);
ImageSource open_edm_zip(const std::string& path);
// Opens "synthetic:..."; a size or number of channels that the spec omits comes from the options.
ImageSource open_synthetic(const std::string& spec, const DatasetOptions& options);

// Returns whether the name has the extension of an image. Formats that cannot be read count: an
// error is better than a missing image.
bool is_image_name(const std::string& name);

// Refuses, before it is read, a dataset.json that is far larger than the labels of `images` images
// need.
void check_labels_size(const std::string& source, uint64_t bytes, size_t images);

// Adds the labels of the images with these names, which are sorted and relative to the top of the
// source. `json` is the content of dataset.json, null where there is no such file.
void add_labels(ImageSource& source,
                const std::vector<std::string>& names,
                const std::string* json);

}  // namespace eps
