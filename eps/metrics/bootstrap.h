// Standard errors over images, by resampling them.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A number with its standard error over images, which is NaN for one image.
struct Reading {
  double value = 0;
  double se = 0;
};

// A `Statistic` is a number about N images as a function of how often each image counts: weights
// (N), float64, >= 0, all 1 for the number itself. A mean over pairs of images must leave out pairs
// of an image with itself, which resampling makes.
class Statistic {
 public:
  template <class Function>
  requires std::is_invocable_r_v<double, const Function&, const Tensor&> Statistic(
      Function function, int64_t images = 1)
      : function_(std::move(function)), images_(images) {}

  double operator()(const Tensor& weights) const { return function_(weights); }
  // The least number of different images with a value: 2 for a statistic of pairs or of spread.
  int64_t images() const { return images_; }

 private:
  std::function<double(const Tensor& weights)> function_;
  int64_t images_;
};

// Returns the mean of (N) values, one for each image.
Statistic mean_of(const Tensor& values);

// Returns a statistic, of() with the values (N, ...), over the images whose values are not NaN: the
// others never count.
Statistic over_defined(const Tensor& values,
                       const std::function<Statistic(const Tensor& values)>& of);

// Returns the value with all weights 1, and its standard error.
//
// The weights of a replicate say how often each of N images occurs in N draws with replacement. The
// standard deviation of a mean over such draws is s sqrt(N - 1) / N, so that of the replicates is
// multiplied by sqrt(N / (N - 1)), which gives s / sqrt(N) for any N. If a replicate has fewer
// different images than the statistic needs, which happens for few images only, the standard error
// is that of the jackknife (one image left out at a time), which is s / sqrt(N) for a mean, too.
// The error is NaN for one image, and if one image left out leaves too few.
Reading bootstrap(const Statistic& statistic,
                  int64_t images,
                  int64_t replicates = 200,
                  uint64_t seed = 0);

}  // namespace eps
