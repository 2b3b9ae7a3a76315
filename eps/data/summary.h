// A description of images of one size or of several, without keeping them in memory.
#pragma once

#include "eps/data/dataset.h"

namespace eps {

// A `DatasetSummary` describes what read_dataset() or read_pictures() would read.
struct DatasetSummary {
  struct Size {
    int64_t height = 0, width = 0;
    bool operator==(const Size&) const = default;
  };

  int64_t images = 0, skipped = 0;
  int64_t channels = 0;
  int64_t pixels = 0;      // of all images
  Size smallest, largest;  // heights and widths each by itself
  bool one_size() const { return smallest == largest; }
  // Labels as in a Dataset; none of images of several sizes.
  Tensor labels = {};
  int64_t label_dim = 0;
  ChannelMoments moments = {};
};

// Describes images, whose sizes may differ.
DatasetSummary summary_of(const std::vector<std::string>& sources, const DatasetOptions& options);

}  // namespace eps
