// Intervals that should hold the truth of a pixel, from samples of it.
#include "eps/metrics/interval.h"

#include <array>
#include <cmath>

#include "eps/metrics/ordered.h"

namespace eps {
namespace {

constexpr double kLevel = 0.9;

// The 95% quantiles of Student's t with 1, 2, ..., 17 degrees of freedom.
constexpr std::array<double, 17> kStudent = {6.3138,
                                             2.9200,
                                             2.3534,
                                             2.1318,
                                             2.0150,
                                             1.9432,
                                             1.8946,
                                             1.8595,
                                             1.8331,
                                             1.8125,
                                             1.7959,
                                             1.7823,
                                             1.7709,
                                             1.7613,
                                             1.7531,
                                             1.7459,
                                             1.7396};

// Rounds numbers that are whole but for rounding, such as (S + 1)(1 - 0.8)/2.
double snap(double number) {
  const double whole = std::round(number);
  return std::abs(number - whole) < 1e-9 ? whole : number;
}

void check_level(double level) {
  check(level > 0 && level < 1, "coverage: the level must be between 0 and 1, got ", level);
}

// Returns order statistic number `position`, 1 ... S, of (S, ...) sorted values; between two,
// interpolated.
Tensor order_statistic(const Tensor& sorted, double position) {
  const double below = std::floor(position), part = position - below;
  const Tensor low = sorted[static_cast<int64_t>(below) - 1];
  return part == 0 ? low : at::lerp(low, sorted[static_cast<int64_t>(below)], part);
}

}  // namespace

int64_t samples_for_level(double level) {
  check_level(level);
  return static_cast<int64_t>(std::ceil(snap(2 / (1 - level) - 1)));
}

Interval interval_in_order(const Tensor& ordered, double level) {
  check_level(level);
  const int64_t S = ordered.size(0), wanted = samples_for_level(level);
  check(S >= wanted, "coverage: level ", level, " needs ", wanted, " samples or more, got ", S);
  const double whole = static_cast<double>(S + 1);
  return {order_statistic(ordered, snap(whole * (1 - level) / 2)),
          order_statistic(ordered, snap(whole * (1 + level) / 2))};
}

Interval central_interval(const Tensor& samples, double level) {
  return interval_in_order(in_order(samples), level);
}

Interval student_interval(const Tensor& samples) {
  const int64_t S = samples.size(0);
  const auto most = static_cast<int64_t>(kStudent.size()) + 1;
  check(S >= 2 && S <= most, "interval: 2 to ", most, " samples are wanted, got ", S);
  const Tensor mean = samples.mean(0);
  const Tensor reach = kStudent[static_cast<size_t>(S - 2)] *
                       std::sqrt(1 + 1 / static_cast<double>(S)) * samples.std(0);
  return {mean - reach, mean + reach};
}

std::string interval_kind(int64_t samples) {
  if (samples < 2) return "none";
  return samples < samples_for_level(kLevel) ? "student_t" : "quantiles";
}

Interval interval_90(const Tensor& samples) {
  return interval_kind(samples.size(0)) == "quantiles" ? central_interval(samples, kLevel)
                                                       : student_interval(samples);
}

}  // namespace eps
