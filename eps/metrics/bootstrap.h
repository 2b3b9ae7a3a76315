// Standard errors over images, by resampling them.
#pragma once

#include "eps/metrics/metric.h"

namespace eps {

// A number about N images as a function of how often each is counted: weights (N), float64, >= 0,
// all 1 for the number itself. Whatever is said of pairs of images must leave out pairs of an image
// with itself, which resampling makes.
using Statistic = std::function<double(const Tensor& weights)>;

// The mean of (N) values, one for each image.
Statistic mean_of(const Tensor& values);

// The value with all weights 1, and the standard deviation of the values under weights that say how
// often each of N images is drawn in N draws with replacement, draws of one image only left out.
// One image: the error is NaN.
Reading bootstrap(const Statistic& statistic,
                  int64_t images,
                  int64_t replicates = 200,
                  uint64_t seed = 0);

}  // namespace eps
