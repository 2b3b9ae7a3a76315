// The cells in the report of an experiment.
#include "eps/experiment/report_cells.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "eps/metrics/metric.h"

namespace eps::experiment {
namespace {

namespace fs = std::filesystem;

// Returns whether a metric is the score of a network.
bool is_judged(const std::string& name) {
  return name.starts_with("lpips") || name.starts_with("fid") ||
         name.find("_inception") != std::string::npos || name.find("_768") != std::string::npos;
}

void drop_scores_of_networks(bool can_be_judged, report::Row& row) {
  std::erase_if(row.metrics, [](const auto& metric) { return is_judged(metric.first); });
  std::erase_if(row.absent, [](const auto& metric) { return is_judged(metric.first); });
  for (const Metric& metric : metrics())
    if (is_judged(metric.name))
      row.absent[metric.name] = can_be_judged ? "not judged yet by these weights"
                                              : "judged by other weights; its samples are gone";
}

template <class All, class Item>
bool has(const All& all, const Item& item) {
  return std::find(all.begin(), all.end(), item) != all.end();
}

// Returns the place of a row in the experiment, the numbers of its task and its method, or nothing.
std::optional<std::pair<size_t, size_t>> place(const Experiment& e, const ReportCell& cell) {
  const report::Row& row = cell.row;
  const auto task = std::find(e.tasks.begin(), e.tasks.end(), row.task);
  const auto method = std::find_if(e.methods.begin(), e.methods.end(), [&](const MethodEntry& c) {
    return c.label == row.method && c.method == row.spec &&
           (c.tasks.empty() || has(c.tasks, row.task)) &&
           (c.steps.empty() ? row.steps == 0 : has(c.steps, row.steps)) &&
           (c.score == "mean") == cell.of_mean;
  });
  if (task == e.tasks.end() || method == e.methods.end()) return {};
  return std::pair{static_cast<size_t>(task - e.tasks.begin()),
                   static_cast<size_t>(method - e.methods.begin())};
}

auto name_of(const ReportCell& cell) {
  return std::tie(cell.row.task, cell.row.method, cell.row.steps, cell.of_mean);
}

// Returns the finished cells in the folder that are not own ones, the last first, without pictures.
std::vector<ReportCell> finished_cells(const std::string& cells,
                                       const std::vector<ReportCell>& own,
                                       const std::string& judges) {
  std::vector<std::pair<fs::file_time_type, ReportCell>> found;
  if (!fs::exists(cells)) return {};
  for (const auto& entry : fs::directory_iterator(cells)) {
    if (!entry.is_directory()) continue;
    for (const bool of_mean : {false, true}) {
      const std::string name = entry.path().filename().string();
      const CellFolder folder(entry.path().string(), of_mean);
      const bool ours = std::any_of(own.begin(), own.end(), [&](const ReportCell& cell) {
        return cell.folder == name && cell.of_mean == of_mean;
      });
      const auto row = ours ? std::nullopt : read_row(folder, judges);
      if (!row || !row->error.empty()) continue;
      found.emplace_back(folder.scored_at(), ReportCell{name, of_mean, *row, {}});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.folder) > std::tie(b.first, b.second.folder);
  });
  std::vector<ReportCell> sorted;
  for (auto& [time, cell] : found) sorted.push_back(std::move(cell));
  return sorted;
}

}  // namespace

std::optional<report::Row> read_row(const CellFolder& folder, const std::string& judges) {
  if (auto row = folder.row(judges)) return row;
  auto row = folder.any_row();
  if (row && row->error.empty()) drop_scores_of_networks(folder.has_samples(), *row);
  return row;
}

std::vector<ReportCell> merge_finished(std::vector<ReportCell> own,
                                       const Experiment& whole,
                                       const std::string& cells,
                                       const std::string& judges) {
  std::vector<ReportCell> rest;
  for (ReportCell& cell : finished_cells(cells, own, judges)) {
    const auto same_name = [&](const ReportCell& other) { return name_of(other) == name_of(cell); };
    const auto same = [&](const ReportCell& other) {
      return same_name(other) && other.row.images_seen == cell.row.images_seen;
    };
    if (place(whole, cell) && std::none_of(own.begin(), own.end(), same_name) &&
        std::none_of(rest.begin(), rest.end(), same)) {
      cell.thumbnails = CellFolder(cells + "/" + cell.folder, cell.of_mean).thumbnails();
      rest.push_back(std::move(cell));
    }
  }
  // The order is that of cells_of(): by network, then by the steps in the experiment.
  const auto step = [&](const ReportCell& cell) {
    const auto& steps = whole.methods[place(whole, cell)->second].steps;
    return std::find(steps.begin(), steps.end(), cell.row.steps) - steps.begin();
  };
  std::sort(rest.begin(), rest.end(), [&](const ReportCell& a, const ReportCell& b) {
    return std::pair{a.row.images_seen, step(a)} < std::pair{b.row.images_seen, step(b)};
  });
  std::move(rest.begin(), rest.end(), std::back_inserter(own));
  const std::pair<size_t, size_t> nowhere{whole.tasks.size(), whole.methods.size()};
  std::stable_sort(own.begin(), own.end(), [&](const ReportCell& a, const ReportCell& b) {
    return place(whole, a).value_or(nowhere) < place(whole, b).value_or(nowhere);
  });
  return own;
}

}  // namespace eps::experiment
