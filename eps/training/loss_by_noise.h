// Losses by noise level: one mean says little, since most of it comes from a few levels.
#pragma once

#include "eps/base/core.h"
#include "eps/base/spec.h"
#include "eps/runtime/distributed.h"

namespace eps::training {

// Noise levels from the first limit to the last, cut at those between; what lies outside belongs to
// the nearest band.
const std::vector<double>& band_limits();
Range band(int64_t index);
int64_t bands();
std::string band_name(int64_t index);  // "0.1-0.3"

// Sums that stay on the device until they are asked for.
class BandSums {
 public:
  explicit BandSums(at::Device device);
  // loss (N) of images at sigma (N, 1, 1, 1).
  void add(const Tensor& sigma, const Tensor& loss);

  struct Means {
    double all = 0;
    std::vector<double> bands;    // NaN where there was no image
    std::vector<int64_t> images;  // in each band
    bool finite = true;           // none of the losses was infinite or not a number
  };
  // Over all ranks; begins anew.
  Means take(const Ranks& ranks);

 private:
  const Tensor limits_;
  Tensor sums_, counts_;
};

}  // namespace eps::training
