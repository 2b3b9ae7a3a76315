// The content of a table of results, whatever the format: cells, ranks, notes.
#include "eps/report/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "eps/report/average.h"
#include "eps/report/numbers.h"

namespace eps::report {
namespace {

// Returns the metric with the digits of this report: powers of ten where all values are below 0.01,
// whose first digits would otherwise be zeros.
Metric metric_of_report(const std::string& name, const std::vector<Row>& rows) {
  Metric metric = find_metric(name);
  double largest = 0;
  for (const auto& row : rows) {
    const double size = std::abs(value_of(row, name));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  if (metric.digits >= 0 && largest > 0 && largest < 1e-2) metric.digits = -2;
  return metric;
}

// Returns the standard error in the digits of its value, or one digit where those would be zeros.
std::string error_text(double se, int digits) {
  if (!std::isfinite(se)) return "";
  const bool visible = digits >= 0 && (se == 0 || se >= 0.5 * std::pow(10, -digits));
  return visible ? fixed_number(se, digits) : fmt::format("{:.0e}", se);
}

TableCell make_cell(const Row& row, const Metric& metric) {
  const double value = value_of(row, metric.name);
  if (std::isnan(value)) return {};
  return {.value = fixed_number(value, metric.digits),
          .se = error_text(row.metrics.at(metric.name).se, metric.digits)};
}

// Returns the badness of the digits of a cell.
double badness_of_digits(const TableCell& cell, const Line& line, const Metric& metric) {
  const double value = value_of(line.row, metric.name);
  return badness(metric, std::isinf(value) ? value : std::stod(cell.value));
}

// Tells whether a is less than b by more than rounding.
bool is_less(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return a < b;
  return b - a > 1e-9 * std::max(std::abs(a), std::abs(b));
}

void rank_column(Table& table, size_t column) {
  std::vector<std::pair<double, TableCell*>> entries;
  for (auto& line : table.lines) {
    if (line.cells.empty() || line.cells[column].value.empty()) continue;
    TableCell& cell = line.cells[column];
    entries.emplace_back(badness_of_digits(cell, line, table.columns[column]), &cell);
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.first < b.first;
  });
  if (entries.empty() || !is_less(entries.front().first, entries.back().first)) return;
  int rank = 1;
  for (size_t i = 0; i < entries.size() && rank <= 2; ++i) {
    if (i > 0 && is_less(entries[i - 1].first, entries[i].first)) rank = static_cast<int>(i) + 1;
    if (rank <= 2) entries[i].second->rank = rank;
  }
}

// Sets the details that tell lines of one method and number of steps apart.
void find_distinctions(Table& table) {
  std::map<std::string, const Row*> seen;
  for (const auto& line : table.lines) {
    const auto [first, is_new] = seen.emplace(row_label(line.row), &line.row);
    if (is_new) continue;
    table.shows_model |= first->second->model != line.row.model;
    table.shows_images_seen |= first->second->images_seen != line.row.images_seen;
  }
}

// Returns the reason why a metric is absent: ": needs Inception weights", or, if some lines have
// it, " of DPS (100), EPS (20): ...".
std::vector<std::string> absences(const Table& table, const Metric& metric) {
  std::map<std::string, std::vector<std::string>> lines;  // by reason
  size_t complete = 0;
  for (const auto& line : table.lines) {
    if (!line.row.error.empty()) continue;
    ++complete;
    const auto reason = line.row.absent.find(metric.name);
    if (reason != line.row.absent.end()) lines[reason->second].push_back(row_label(line.row));
  }
  std::vector<std::string> result;
  for (const auto& [reason, labels] : lines) {
    const bool all = labels.size() == complete;
    result.push_back((all ? "" : fmt::format(" of {}", fmt::join(labels, ", "))) + ": " + reason);
  }
  return result;
}

// Metrics that are absent for the same reason share a note: "FID, CRPS: needs Inception weights".
std::vector<std::string> absence_notes(const Table& table) {
  std::vector<std::pair<std::string, std::string>> found;  // labels, and the text of absences()
  for (const auto& metric : table.columns) {
    for (const auto& absence : absences(table, metric)) {
      const auto same = std::find_if(
          found.begin(), found.end(), [&](const auto& note) { return note.second == absence; });
      if (same == found.end()) {
        found.emplace_back(metric.label, absence);
      } else {
        same->first += ", " + metric.label;
      }
    }
  }
  std::vector<std::string> notes;
  for (const auto& [labels, absence] : found) notes.push_back(labels + absence);
  return notes;
}

// An MMD with pairs in its cross term has a floor, which the note has too (eps/metrics/mmd.h).
void note_floor(Table& table) {
  for (const auto& metric : table.columns) {
    std::set<double> floors;
    for (const auto& line : table.lines) {
      const double floor = value_of(line.row, metric.name + "_floor");
      if (!std::isnan(floor)) floors.insert(floor);
    }
    if (floors.empty()) continue;
    const std::string low = typeset(fixed_number(*floors.begin(), -2));
    const std::string high = typeset(fixed_number(*floors.rbegin(), -2));
    table.notes.push_back(
        fmt::format("{}: restorations equal to their truths would have {}",
                    metric.label,
                    low == high ? low : fmt::format("{} to {}, by row", low, high)));
  }
}

Table make_table(const std::string& title,
                 const std::vector<Row>& rows,
                 const std::vector<Metric>& columns) {
  Table table{.title = title, .columns = columns};
  for (const auto& row : rows) {
    Line& line = table.lines.emplace_back(Line{.row = row});
    if (!row.error.empty()) continue;
    for (const auto& metric : columns) line.cells.push_back(make_cell(row, metric));
  }
  find_distinctions(table);
  table.notes = absence_notes(table);
  note_floor(table);
  return table;
}

Table average_table(const Average& average, size_t tasks, const std::vector<Metric>& columns) {
  Table table = make_table(fmt::format("Average of {} tasks", tasks), average.rows, columns);
  std::vector<std::string> targets;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].better != Better::target) {
      rank_column(table, i);
    } else {
      targets.push_back(columns[i].label);
    }
  }
  if (!targets.empty()) {
    table.notes.push_back(
        fmt::format("{}: not ranked, since too much and too little cancel in an average",
                    fmt::join(targets, ", ")));
  }
  if (!average.left_out.empty()) {
    table.notes.push_back(
        fmt::format("Without every task, so not here: {}", fmt::join(average.left_out, ", ")));
  }
  return table;
}

}  // namespace

std::vector<Table> make_tables(const Report& report) {
  std::vector<Metric> columns;
  for (const auto& name : report.columns) columns.push_back(metric_of_report(name, report.rows));
  std::vector<Table> tables;
  std::vector<std::string> tasks;
  for (const auto& task : task_order(report)) {
    std::vector<Row> rows;
    for (const auto& row : report.rows) {
      if (row.task == task) rows.push_back(row);
    }
    if (rows.empty()) continue;
    tasks.push_back(task);
    Table& table = tables.emplace_back(make_table(task_title(task), rows, columns));
    for (size_t i = 0; i < columns.size(); ++i) rank_column(table, i);
  }
  if (tasks.size() < 2) return tables;
  const Average average = average_rows(report.rows, tasks);
  if (!average.rows.empty()) tables.push_back(average_table(average, tasks.size(), columns));
  return tables;
}

std::vector<std::string> task_order(const Report& report) {
  std::vector<std::string> tasks = report.tasks;
  for (const auto& row : report.rows) {
    if (std::find(tasks.begin(), tasks.end(), row.task) == tasks.end()) tasks.push_back(row.task);
  }
  return tasks;
}

std::string task_title(const std::string& task) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  if (task.empty() || !std::all_of(task.begin(), task.end(), is_plain)) return task;
  std::string title = task;
  std::replace(title.begin(), title.end(), '_', ' ');
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

std::string row_label(const Row& row) {
  const double count = row.nfe > 0 ? row.nfe : static_cast<double>(row.steps);
  return count > 0 ? fmt::format("{} ({})", row.method, plain_number(count)) : row.method;
}

std::string arrow(const Metric& metric) {
  if (metric.better == Better::target)
    return std::isnan(metric.target) ? "" : fmt::format("→ {:g}", metric.target);
  return metric.better == Better::higher ? "↑" : "↓";
}

double value_of(const Row& row, const std::string& metric) {
  const auto found = row.metrics.find(metric);
  return found == row.metrics.end() ? std::numeric_limits<double>::quiet_NaN()
                                    : found->second.value;
}

}  // namespace eps::report
