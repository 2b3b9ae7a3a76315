// The colour, marker and name of each line of a report: one choice for all its plots.
#include "eps/report/styles.h"

#include <algorithm>
#include <set>

#include "eps/report/table.h"

namespace eps::report {

Styles::Styles(const std::vector<Row>& rows) {
  for (const auto& row : rows) {
    auto found = std::find_if(methods_.begin(), methods_.end(), [&](const Method& method) {
      return method.name == row.method;
    });
    if (found == methods_.end()) found = methods_.insert(found, {row.method, {}, {}});
    auto& steps = found->steps;
    if (std::find(steps.begin(), steps.end(), row.steps) != steps.end()) continue;
    steps.push_back(row.steps);
    found->labels.push_back(row_label(row));
  }
}

Series Styles::of_method(const Row& row) const {
  int index = 0;
  while (methods_.at(index).name != row.method) ++index;
  return {.name = row.method, .style = {.method = index}, .points = {}};
}

Series Styles::of_steps(const Row& row) const {
  Series series = of_method(row);
  const auto& [name, steps, labels] = methods_[series.style.method];
  if (steps.size() == 1) return series;
  const auto found = std::find(steps.begin(), steps.end(), row.steps);
  series.style.variant = static_cast<int>(found - steps.begin());
  series.name = labels[series.style.variant];
  return series;
}

Series Drawn::series(const Styles& styles, const Row& row) const {
  Series line = styles.of_steps(row);
  if (!all) line.style.variant = 0;
  return line;
}

std::string Drawn::note() const {
  return all ? "" : "Of each method, the row with the most evaluations.";
}

Drawn rows_to_draw(const std::vector<Row>& rows, const std::function<bool(const Row&)>& wanted) {
  constexpr size_t kMostLines = 12;
  Drawn every, largest{.rows = {}, .all = false};
  std::set<std::pair<std::string, int64_t>> lines;
  for (const auto& row : rows) {
    if (!wanted(row)) continue;
    every.rows.push_back(&row);
    lines.emplace(row.method, row.steps);
    const auto same = std::find_if(largest.rows.begin(), largest.rows.end(), [&](const Row* other) {
      return other->task == row.task && other->method == row.method;
    });
    if (same == largest.rows.end()) {
      largest.rows.push_back(&row);
    } else if (row.nfe > (*same)->nfe) {
      *same = &row;
    }
  }
  return lines.size() <= kMostLines ? every : largest;
}

void add_point(std::vector<Series>& all, const Series& series, const Point& point) {
  auto found = std::find_if(
      all.begin(), all.end(), [&](const Series& other) { return other.name == series.name; });
  if (found == all.end()) found = all.insert(found, series);
  found->points.push_back(point);
}

}  // namespace eps::report
