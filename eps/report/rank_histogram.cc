// A histogram of ranks as SVG.
#include "eps/report/rank_histogram.h"

#include <fmt/format.h>

#include <algorithm>

#include "eps/report/markup.h"
#include "eps/report/numbers.h"

namespace eps::report {
namespace {

constexpr double kWidth = 110, kHeight = 72, kTop = 12, kBottom = 71;

std::string bar(double left, double width, double height, const std::string& tooltip) {
  return element("rect",
                 {{"x", coordinate(left)},
                  {"y", coordinate(kBottom - height)},
                  {"width", coordinate(width)},
                  {"height", coordinate(height)}},
                 element("title", {}, tooltip));
}

// Writes the height of a bar that is cut above its middle, unless another number is there.
std::string cut_number(double middle, double units, double& free_from) {
  const std::string number = fmt::format("{:.1f}", units);
  const double width = 5.5 * static_cast<double>(number.size() + 1);
  const double left = std::clamp(middle - width / 2, 0.0, kWidth - width);
  if (left < free_from) return "";
  free_from = left + width;
  return element("text", {{"x", coordinate(left)}, {"y", coordinate(kTop - 3)}}, number + "×");
}

}  // namespace

std::string rank_histogram(const RankHistogram& histogram) {
  const auto& fractions = histogram.fractions;
  const double count = static_cast<double>(fractions.size());
  const double width = kWidth / count;
  const auto height_of = [&](double units) {
    return (kBottom - kTop) * std::min(units / histogram.highest, 1.0);
  };
  std::string content, numbers;
  double free_from = 0;  // where the next number has room
  for (size_t i = 0; i < fractions.size(); ++i) {
    const double units = fractions[i] * count;
    const double left = width * static_cast<double>(i);
    content += bar(left + 0.04 * width,
                   0.92 * width,
                   height_of(units),
                   fmt::format("rank {}: {:.4f}, uniform {:.4f}", i, fractions[i], 1 / count));
    const bool cut = units > histogram.highest * (1 + 1e-9);
    if (cut) numbers += cut_number(left + width / 2, units, free_from);
  }
  const std::string uniform = fmt::format("M0 {:.2f}H{:g}", kBottom - height_of(1), kWidth);
  const std::string base = fmt::format("M0 {:g}H{:g}", kBottom, kWidth);
  content += element("path", {{"class", "reference"}, {"d", uniform}}) +
             element("path", {{"class", "tick"}, {"d", base}}) + numbers;
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {:g} {:g}", kWidth, kHeight)},
                  {"class", "ranks " + style_class(histogram.style)},
                  {"role", "img"},
                  {"aria-label", histogram.title}},
                 content);
}

}  // namespace eps::report
