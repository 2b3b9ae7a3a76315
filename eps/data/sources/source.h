// What a source of images is to read_dataset(): names, labels, and a way to read each image.
#pragma once

#include "eps/base/spec.h"
#include "eps/data/dataset.h"

namespace eps {

struct ImageSource {
  std::string name;                      // as the user gave it
  std::vector<std::string> image_names;  // for messages
  // uint8 (C, H, W) of image i, from any thread. Error: it cannot be read.
  std::function<Tensor(size_t i)> read;
  Tensor labels;          // int64 (N) or float32 (N, label_dim); undefined: none
  int64_t label_dim = 0;  // classes, or numbers per label
  std::vector<std::string>
      class_names;  // where classes have names: those of two sources must agree
};

ImageSource open_image_folder(const std::string& path);
ImageSource open_edm_zip(const std::string& path);
// "synthetic:..."; a size or number of channels that it does not say is taken from the options.
ImageSource open_synthetic(const std::string& spec, const DatasetOptions& options);

// Does the name end as images do? Formats that cannot be read count: better reported than missing.
bool is_image_name(const std::string& name);

// Refuses a dataset.json of so many bytes before it is read, where so many images need far fewer.
void check_labels_size(const std::string& source, uint64_t bytes, size_t images);

// Labels of the images with these names, in sorted order and relative to the top of the source.
// `json` is the content of dataset.json, null where there is none.
void add_labels(ImageSource& source,
                const std::vector<std::string>& names,
                const std::string* json);

}  // namespace eps
