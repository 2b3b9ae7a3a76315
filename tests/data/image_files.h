// Small image files for the tests of data sets.
#pragma once

#include "eps/data/dataset.h"
#include "eps/io/images/image.h"
#include "tests/files.h"

namespace eps {

// Returns an image of one value.
inline Tensor flat(int64_t value, int64_t channels = 3, int64_t height = 4, int64_t width = 4) {
  return at::full({channels, height, width}, value, at::kByte);
}

inline void put_image(const Folder& folder, const std::string& name, const Tensor& image) {
  std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
  write_png(folder.file(name), image);
}

// Returns the value of each image's first pixel, which tells the images apart.
inline std::vector<int64_t> values(const Dataset& dataset) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    found.push_back(dataset.images[i][0][0][0].item<int64_t>());
  }
  return found;
}

inline std::vector<int64_t> classes(const Dataset& dataset) {
  const Tensor l = dataset.labels;
  return {l.data_ptr<int64_t>(), l.data_ptr<int64_t>() + l.numel()};
}

using Numbers = std::vector<int64_t>;

}  // namespace eps
