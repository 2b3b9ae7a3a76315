// Images divided among threads: runs of pixels, the same whatever the number of threads.
#pragma once

#include <algorithm>
#include <vector>

#include "eps/base/core.h"

namespace eps::nets {

// `Runs` divides images into runs of pixels, numbered consecutively over all images. Sums over a
// run are in float32; those of several runs are added in float64, in their order.
struct Runs {
  static constexpr int64_t kPixels = 128;   // of a run
  static constexpr int64_t kGrain = 32768;  // least number of elements for a thread

  int64_t images, channels, pixels;

  int64_t per_image() const { return (pixels + kPixels - 1) / kPixels; }
  int64_t total() const { return images * per_image(); }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / (kPixels * channels)); }
  int64_t image(int64_t run) const { return run / per_image(); }
  // Returns the offset of the run in memory; count() returns its number of pixels.
  int64_t begin(int64_t run) const {
    return (image(run) * pixels + run % per_image() * kPixels) * channels;
  }
  int64_t count(int64_t run) const {
    return std::min(kPixels, pixels - run % per_image() * kPixels);
  }
};

inline Runs runs_of(const Tensor& image) {
  return {image.size(0), image.size(1), image.size(2) * image.size(3)};
}

inline std::vector<float> zeros(int64_t n) { return std::vector<float>(static_cast<size_t>(n)); }

// Returns row n of a table (N or 1, width) in float32; null when absent.
inline const float* row(const Tensor& table, int64_t n) {
  if (!table.defined()) return nullptr;
  return table.data_ptr<float>() + (table.size(0) == 1 ? 0 : n * table.size(1));
}

}  // namespace eps::nets
