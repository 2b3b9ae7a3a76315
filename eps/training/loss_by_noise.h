// Losses by noise level, since a few levels dominate the mean over all.
#pragma once

#include "eps/base/core.h"
#include "eps/base/spec.h"
#include "eps/runtime/distributed.h"

namespace eps::training {

// Bands cover the noise levels from the first limit to the last, with cuts at the limits between. A
// level outside belongs to the nearest band.
const std::vector<double>& band_limits();
Range band(int64_t index);
int64_t bands();
std::string band_name(int64_t index);  // "0.1-0.3"

// A `BandSums` adds up losses by band, on the device until take() reads them.
class BandSums {
 public:
  explicit BandSums(at::Device device);
  // Adds the loss (N) of images at sigma (N, 1, 1, 1).
  void add(const Tensor& sigma, const Tensor& loss);

  struct Means {
    double all = 0;
    std::vector<double> bands;    // NaN where there was no image
    std::vector<int64_t> images;  // in each band
    bool finite = true;           // none of the losses was infinite or not a number
  };
  // Returns the means over all ranks since the last call.
  Means take(const Ranks& ranks);

 private:
  const Tensor limits_;
  Tensor sums_, counts_;
};

}  // namespace eps::training
