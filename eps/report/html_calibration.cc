// The calibration of the samples on a report's page: coverage of intervals and ranks of the truth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eps/report/markup.h"
#include "eps/report/numbers.h"
#include "eps/report/rank_histogram.h"
#include "eps/report/sections.h"
#include "eps/report/table.h"

namespace eps::report {
namespace {

// Returns nominal levels and observed coverage: "coverage_90" has the level 0.9.
std::vector<Point> coverage_of(const Row& row) {
  const std::string prefix = "coverage_";
  std::vector<Point> points;
  for (const auto& [name, estimate] : row.metrics) {
    const std::string percent = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (percent.empty() || percent.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!std::isfinite(estimate.value)) continue;
    points.push_back({std::stod(percent) / 100, estimate.value, estimate.se});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

std::string coverage_panels(const Report& report, const Styles& styles) {
  const Drawn drawn =
      rows_to_draw(report.rows, [](const Row& row) { return !coverage_of(row).empty(); });
  std::vector<Series> all;
  std::string panels;
  for (const auto& task : task_order(report)) {
    LinePlot plot{.title = task + ": observed coverage against nominal level",
                  .x_label = "nominal level",
                  .y_label = "observed coverage",
                  .diagonal = true};
    for (const Row* row : drawn.rows) {
      if (row->task != task) continue;
      plot.series.push_back(drawn.series(styles, *row));
      plot.series.back().points = coverage_of(*row);
    }
    if (plot.series.empty()) continue;
    panels += panel(plot, task_title(task));
    all.insert(all.end(), plot.series.begin(), plot.series.end());
  }
  if (panels.empty()) return "";
  return element("h3", {}, "Coverage of central intervals") + "\n" +
         key("How much of the truth lies inside intervals of the samples. On the dashed line: "
             "calibrated; below it: too sure. " +
             drawn.note()) +
         legend(all) + element("div", {{"class", "panels"}}, "\n" + panels) + "\n";
}

// Returns the numbers that sum a histogram up, one a line.
std::string rank_numbers(const Row& row) {
  std::string markup;
  for (const char* name :
       {"spread_skill", "rank_chi2", "spread_skill_measured", "spread_skill_unmeasured"}) {
    const double value = value_of(row, name);
    if (std::isnan(value)) continue;
    const Metric metric = find_metric(name);
    const std::string words = metric.label + " " + fixed_number(value, metric.digits);
    markup += element("small", {}, escape_markup(words));
  }
  return markup;
}

bool has_ranks(const Row& row) {
  return !row.ranks.empty() &&
         std::isfinite(std::accumulate(row.ranks.begin(), row.ranks.end(), 0.0));
}

// Returns the height of the highest bar, in units of a uniform histogram.
double highest_bar(const Drawn& drawn) {
  double highest = 0;
  for (const Row* row : drawn.rows) {
    const double most = *std::max_element(row->ranks.begin(), row->ranks.end());
    highest = std::max(highest, most * static_cast<double>(row->ranks.size()));
  }
  return highest;
}

std::string rank_panels(const Report& report, const Styles& styles) {
  const Drawn drawn = rows_to_draw(report.rows, has_ranks);
  const double most = highest_bar(drawn);
  const double highest = std::clamp(most, 1.5, 4.0);
  std::string panels;
  for (const auto& task : task_order(report)) {
    std::string figures;
    for (const Row* row : drawn.rows) {
      if (row->task != task) continue;
      const std::string name = row_label(*row);
      const std::string histogram = rank_histogram(
          {.fractions = row->ranks,
           .highest = highest,
           .style = styles.of_method(*row).style,
           .title = fmt::format("{}: ranks of the truth among samples of {}", task, name)});
      figures +=
          element("figure",
                  {},
                  element("figcaption", {}, escape_markup(name)) + histogram + rank_numbers(*row)) +
          "\n";
    }
    if (figures.empty()) continue;
    panels += element("h4", {}, escape_markup(task_title(task))) + "\n" +
              element("div", {{"class", "multiples"}}, "\n" + figures) + "\n";
  }
  if (panels.empty()) return "";
  const std::string cut =
      most > highest ? "Bars above four times uniform are cut and say how high they are. " : "";
  return element("h3", {}, "Ranks of the truth among the samples") + "\n" +
         key("The dashed line is uniform: calibrated. High ends: too sure; a high middle: too "
             "wide; a slope: biased. " +
             cut + drawn.note()) +
         panels;
}

}  // namespace

std::string calibration_section(const Report& report, const Styles& styles) {
  const std::string markup = coverage_panels(report, styles) + rank_panels(report, styles);
  if (markup.empty()) return "";
  return element("section", {}, element("h2", {}, "Calibration") + "\n" + markup) + "\n";
}

}  // namespace eps::report
