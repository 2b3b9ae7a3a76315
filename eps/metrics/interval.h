// Intervals that should hold the truth of a pixel, from samples of it.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct Interval {
  Tensor low, high;  // (...)
};

// Returns the number of samples that a central interval of this level needs, its ends between the
// first and the last.
int64_t samples_for_level(double level);

// Returns the central interval of a level among S samples (S, ...): its ends are the order
// statistics at (S + 1)(1 -+ level)/2, interpolated. Fewer samples than it needs are an Error.
Interval central_interval(const Tensor& samples, double level);
// Returns the same of samples that are in order already.
Interval interval_in_order(const Tensor& ordered, double level);

// Returns the 90% interval of 2 to 18 samples, which cannot resolve tails of 5%: mean +- t s sqrt(1
// + 1/S), t the 95% quantile of Student's t with S - 1 degrees of freedom. As the truth is one more
// draw from the law of the samples, it is exact where that law is Gaussian.
Interval student_interval(const Tensor& samples);

// Returns how S samples give the interval that holds the truth with 90%: "quantiles", by their
// order statistics, from 19 on; "student_t" below; "none" of one sample.
std::string interval_kind(int64_t samples);
// Returns that interval. One sample is an Error.
Interval interval_90(const Tensor& samples);

}  // namespace eps
