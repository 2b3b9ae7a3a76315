// Axes of plots: from numbers to places, and ticks at round numbers.
#pragma once

#include "eps/base/core.h"

namespace eps::report {

struct Tick {
  double value;
  std::string label;
};

// An `Axis` maps numbers from `low` to `high` to places from `start` to `end`, by logarithms or
// not.
struct Axis {
  double low = 0, high = 1;
  double start = 0, end = 1;
  bool log = false;

  double place(double value) const;
};

// Returns the range of the values with some air around it; never empty. Values on an axis of
// logarithms are > 0.
Axis axis_around(const std::vector<double>& values, bool log);

// Returns about `count` ticks, fewer rather than more, at 1, 2 or 5 times a power of ten.
std::vector<Tick> ticks(const Axis& axis, int count);

}  // namespace eps::report
