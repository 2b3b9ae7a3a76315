// Axes of plots: from numbers to places, and ticks at round numbers.
#include "eps/report/axis.h"

#include <algorithm>
#include <cmath>

#include "eps/report/numbers.h"

namespace eps::report {
namespace {

std::vector<Tick> linear_ticks(const Axis& axis, int count) {
  const double least = (axis.high - axis.low) / count;
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (factor * power >= least * (1 - 1e-9)) step = factor * power;
  }
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> result;
  for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + 1e-9 * step; ++k) {
    // Long numbers in full would leave the plot no room.
    const bool short_enough = digits <= 4 && largest < 1e4;
    result.push_back({k * step,
                      short_enough ? fixed_number(k * step, digits)
                      : k == 0     ? "0"
                                   : brief_number(k * step)});
  }
  return result;
}

// Returns the finest ticks of 1-2-5, every power of ten, every second, ... that are not too many.
std::vector<Tick> log_ticks(const Axis& axis, int count) {
  const int first = static_cast<int>(std::floor(std::log10(axis.low)));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
  for (int stride = 0;; ++stride) {
    std::vector<Tick> result;
    for (int power = first; power <= last; power += std::max(stride, 1)) {
      for (const double factor : stride == 0 ? std::vector<double>{1, 2, 5} : std::vector{1.}) {
        const double value = factor * std::pow(10, power);
        if (value < axis.low || value > axis.high) continue;
        result.push_back({value, brief_number(value)});
      }
    }
    // Less than a decade may hold one round number only, or none.
    if (stride == 0 && result.size() < 3) return linear_ticks(axis, 4);
    if (static_cast<int>(result.size()) <= count) return result;
  }
}

}  // namespace

double Axis::place(double value) const {
  const double part =
      log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return start + part * (end - start);
}

Axis axis_around(const std::vector<double>& values, bool log) {
  check(!values.empty(), "plot: an axis needs at least one value");
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  constexpr double kAir = 0.06;
  if (log) {
    check(*least > 0, "plot: values on an axis of logarithms must be > 0, got ", *least);
    const double air = *greatest > *least ? std::pow(*greatest / *least, kAir) : 2;
    return {.low = *least / air, .high = *greatest * air, .log = true};
  }
  // A range of rounding errors counts as empty.
  const double size = std::max(std::abs(*least), std::abs(*greatest));
  const double range = *greatest - *least;
  const double air = range > 1e-9 * size ? kAir * range : size > 0 ? 0.1 * size : 1;
  return {.low = *least - air, .high = *greatest + air};
}

std::vector<Tick> ticks(const Axis& axis, int count) {
  return axis.log ? log_ticks(axis, count) : linear_ticks(axis, count);
}

}  // namespace eps::report
