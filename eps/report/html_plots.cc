// The plots of a report's page: metrics against the cost of a row, or across tasks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eps/report/markup.h"
#include "eps/report/sections.h"
#include "eps/report/table.h"

namespace eps::report {
namespace {

struct XAxis {
  std::string label;
  std::function<double(const Row&)> number;  // > 0, or 0 where it is unknown
  bool by_steps = false;                     // a line for each number of steps
};

XAxis find_x(const std::string& name) {
  if (name == "nfe") return {"NFE", [](const Row& row) { return row.nfe; }};
  if (name == "seconds") return {"seconds per sample", [](const Row& row) { return row.seconds; }};
  check(name == "images_seen", "a plot's x must be nfe, images_seen, seconds or task, got ", name);
  return {"images seen in training",
          [](const Row& row) { return static_cast<double>(row.images_seen); },
          true};
}

// Returns the lines of the rows of one task.
std::vector<Series> make_series(const Report& report,
                                const Styles& styles,
                                const Plot& plot,
                                const std::string& task) {
  const XAxis axis = find_x(plot.x);
  std::vector<Series> all;
  for (const auto& row : report.rows) {
    const double x = axis.number(row);
    const double y = value_of(row, plot.y);
    if (row.task != task || !std::isfinite(x) || x <= 0 || !std::isfinite(y)) continue;
    add_point(all,
              axis.by_steps ? styles.of_steps(row) : styles.of_method(row),
              {x, y, row.metrics.at(plot.y).se});
  }
  for (auto& series : all) {
    std::stable_sort(series.points.begin(),
                     series.points.end(),
                     [](const Point& a, const Point& b) { return a.x < b.x; });
  }
  return all;
}

std::string across_tasks(const Report& report, const Styles& styles, const Plot& plot) {
  const Metric metric = find_metric(plot.y);
  const auto tasks = task_order(report);
  LinePlot drawing{.title = metric.label + " across tasks",
                   .x_label = "",
                   .y_label = metric.label + " " + arrow(metric)};
  const Drawn drawn = rows_to_draw(
      report.rows, [&](const Row& row) { return std::isfinite(value_of(row, plot.y)); });
  for (size_t i = 0; i < tasks.size(); ++i) {
    drawing.categories.push_back(task_title(tasks[i]));
    for (const Row* row : drawn.rows) {
      if (row->task != tasks[i]) continue;
      const Reading& estimate = row->metrics.at(plot.y);
      add_point(drawing.series,
                drawn.series(styles, *row),
                {static_cast<double>(i), estimate.value, estimate.se});
    }
  }
  if (drawing.series.empty()) return "";
  const double count = static_cast<double>(tasks.size());
  drawing.width = std::max(std::clamp(150 * count, 450.0, 1050.0), 70 * count);
  drawing.height = 300;
  const std::string width = fmt::format("--width:{:g}px", drawing.width);
  return element("h3", {}, escape_markup(drawing.title)) + "\n" + key(drawn.note()) +
         legend(drawing.series) +
         element("div",
                 {{"class", "scroll wide"}, {"style", width}, {"tabindex", "0"}},
                 panel(drawing, "")) +
         "\n";
}

std::string across_numbers(const Report& report, const Styles& styles, const Plot& plot) {
  const Metric metric = find_metric(plot.y);
  const std::string x_label = find_x(plot.x).label;
  std::vector<Series> all;
  std::string panels;
  for (const auto& task : task_order(report)) {
    const LinePlot drawing{.title = fmt::format("{}: {} against {}", task, metric.label, x_label),
                           .x_label = x_label,
                           .y_label = metric.label + " " + arrow(metric),
                           .log_x = true,
                           .series = make_series(report, styles, plot, task)};
    if (drawing.series.empty()) continue;
    panels += panel(drawing, task_title(task));
    all.insert(all.end(), drawing.series.begin(), drawing.series.end());
  }
  if (panels.empty()) return "";
  const std::string title = fmt::format("{} against {}", metric.label, x_label);
  return element("h3", {}, escape_markup(title)) + "\n" + legend(all) +
         element("div", {{"class", "panels"}}, "\n" + panels) + "\n";
}

}  // namespace

void check_plot(const Plot& plot) {
  find_metric(plot.y);
  if (plot.x != "task") find_x(plot.x);
}

std::string plots_section(const Report& report, const Styles& styles) {
  std::string markup;
  for (const auto& plot : report.plots) {
    markup += plot.x == "task" ? across_tasks(report, styles, plot)
                               : across_numbers(report, styles, plot);
  }
  if (markup.empty()) return "";
  return element("section", {}, element("h2", {}, "Plots") + "\n" + markup) + "\n";
}

}  // namespace eps::report
