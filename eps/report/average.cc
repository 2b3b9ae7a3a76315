// Rows averaged over tasks.
#include "eps/report/average.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "eps/report/table.h"

namespace eps::report {
namespace {

using Key = std::tuple<std::string, int64_t, int64_t>;  // method, steps, images seen
using Group = std::vector<const Row*>;

// Returns groups in the order of their first rows.
std::vector<Group> group(const std::vector<Row>& rows, bool by_images_seen) {
  std::vector<std::pair<Key, Group>> groups;
  for (const auto& row : rows) {
    const Key key{row.method, row.steps, by_images_seen ? row.images_seen : 0};
    auto found = std::find_if(
        groups.begin(), groups.end(), [&](const auto& entry) { return entry.first == key; });
    if (found == groups.end()) found = groups.insert(found, {key, {}});
    found->second.push_back(&row);
  }
  std::vector<Group> result;
  for (auto& entry : groups) result.push_back(std::move(entry.second));
  return result;
}

// Tells whether one task has several rows of one method and number of steps, which only the images
// seen tell apart. Elsewhere that number does not count: networks of different tasks may have seen
// different numbers of images.
bool needs_images_seen(const std::vector<Row>& rows) {
  std::set<std::tuple<std::string, std::string, int64_t>> seen;
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return !seen.emplace(row.task, row.method, row.steps).second;
  });
}

bool is_complete(const Group& rows, const std::vector<std::string>& tasks) {
  std::set<std::string> found;
  for (const Row* row : rows) {
    if (row->error.empty()) found.insert(row->task);
  }
  return rows.size() == tasks.size() && found.size() == tasks.size();
}

double mean_of(const Group& rows, const std::function<double(const Row&)>& number) {
  double sum = 0;
  for (const Row* row : rows) sum += number(*row);
  return sum / static_cast<double>(rows.size());
}

// Returns the reason why a metric that some task lacks is not in the average; empty if no row has
// one.
std::string reason(const Group& rows, const std::string& metric) {
  std::set<std::string> reasons;
  for (const Row* row : rows) {
    const auto found = row->absent.find(metric);
    reasons.insert(found == row->absent.end() ? "" : found->second);
  }
  return reasons.size() == 1 ? *reasons.begin() : "not on every task";
}

Row average(const Group& rows) {
  Row result = *rows.front();
  result.task.clear();
  result.ranks.clear();
  result.metrics.clear();
  result.absent.clear();
  result.nfe = mean_of(rows, [](const Row& row) { return row.nfe; });
  result.vjps = mean_of(rows, [](const Row& row) { return row.vjps; });
  result.solves = mean_of(rows, [](const Row& row) { return row.solves; });
  result.seconds = mean_of(rows, [](const Row& row) { return row.seconds; });
  std::set<std::string> names;
  for (const Row* row : rows) {
    for (const auto& [name, estimate] : row->metrics) names.insert(name);
    for (const auto& [name, why] : row->absent) names.insert(name);
  }
  for (const auto& name : names) {
    const double value = mean_of(rows, [&](const Row& row) { return value_of(row, name); });
    if (std::isnan(value)) {
      if (const std::string why = reason(rows, name); !why.empty()) result.absent[name] = why;
    } else {
      result.metrics[name] = {value, std::numeric_limits<double>::quiet_NaN()};
    }
  }
  return result;
}

}  // namespace

Average average_rows(const std::vector<Row>& rows, const std::vector<std::string>& tasks) {
  Average result;
  for (const auto& same : group(rows, needs_images_seen(rows))) {
    if (is_complete(same, tasks)) {
      result.rows.push_back(average(same));
    } else {
      result.left_out.push_back(row_label(*same.front()));
    }
  }
  return result;
}

}  // namespace eps::report
