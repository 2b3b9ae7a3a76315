// The report of an experiment, built from its rows.
#include "eps/experiment/report_builder.h"

#include <fmt/format.h>

#include <limits>

#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/metrics/psnr.h"
#include "eps/report/table.h"

namespace eps::experiment {
namespace {

// `Columns` gathers the columns of a sheet, each (K, C, H, W), with or without the PSNR of its
// images.
struct Columns {
  std::vector<std::string> titles;
  std::vector<Tensor> images, psnr;

  void add(const std::string& title, const Tensor& column, const Tensor& quality = {}) {
    titles.push_back(title);
    images.push_back(to_uint8(column.to(at::kFloat)));
    psnr.push_back(
        quality.defined()
            ? quality
            : at::full({column.size(0)}, std::numeric_limits<double>::quiet_NaN(), at::kDouble));
  }
  report::PictureGrid sheet(const std::string& title) const {
    return {title, titles, at::stack(images, 1), at::stack(psnr, 1)};
  }
};

class Sheets {
 public:
  Sheets(const Experiment& experiment,
         const ExperimentInputs& inputs,
         const std::vector<ReportCell>& cells)
      : e_(experiment),
        cells_(cells),
        images_{inputs.images.x0.to(at::kCPU)},
        few_(images_.x0.slice(0, 0, experiment.sheet_images).to(at::kDouble)) {}

  std::vector<report::PictureGrid> all() const {
    const int64_t channels = few_.size(1);
    if (e_.sheet == "none" || (channels != 1 && channels != 3)) return {};
    std::vector<report::PictureGrid> sheets;
    for (const auto& task : e_.tasks) {
      if (e_.sheet == "methods") {
        add_methods(task, sheets);
      } else {
        add_samples(task, sheets);
      }
    }
    return sheets;
  }

 private:
  // Returns the image and its measurement, which all cells of the task share.
  Columns begin(const std::string& task) const {
    const Problem problem =
        first_problem({.task = task, .sigma_y = e_.sigma_y, .seed = e_.seed, .batch = few_.size(0)},
                      images_,
                      at::kCPU);
    Columns columns;
    columns.add("truth", few_);
    columns.add("measurement", few(problem.A->format().picture(problem.y)).expand_as(few_));
    return columns;
  }
  // Returns the cells of the task that have pictures.
  std::vector<const ReportCell*> finished(const std::string& task) const {
    std::vector<const ReportCell*> found;
    for (const ReportCell& cell : cells_)
      if (cell.row.task == task && cell.thumbnails && cell.row.error.empty())
        found.push_back(&cell);
    return found;
  }
  Tensor few(const Tensor& images) const { return images.slice(0, 0, few_.size(0)); }
  Tensor quality(const Tensor& images) const { return psnr(images, few_); }

  // Adds a sheet with the first sample of each method.
  void add_methods(const std::string& task, std::vector<report::PictureGrid>& sheets) const {
    const auto found = finished(task);
    if (found.empty()) return;
    Columns columns = begin(task);
    for (const ReportCell* cell : found) {
      const Tensor sample = few(cell->thumbnails->samples[0]);
      columns.add(report::row_label(cell->row), sample, quality(sample));
    }
    sheets.push_back(columns.sheet(report::task_title(task)));
  }

  // Adds a sheet for each method: samples, their mean and their standard deviation.
  void add_samples(const std::string& task, std::vector<report::PictureGrid>& sheets) const {
    const auto found = finished(task);
    if (found.empty()) return;
    const Columns first = begin(task);
    for (const ReportCell* cell : found) {
      const Thumbnails& thumbnails = *cell->thumbnails;
      Columns columns = first;
      for (int64_t k = 0; k < thumbnails.samples.size(0); ++k) {
        const Tensor sample = few(thumbnails.samples[k]);
        columns.add(fmt::format("sample {}", k + 1), sample, quality(sample));
      }
      columns.add("mean", few(thumbnails.mean), quality(few(thumbnails.mean)));
      // Black is none, white a standard deviation of 0.5 or more.
      columns.add("std", few(thumbnails.deviation) * 4 - 1);
      sheets.push_back(columns.sheet(
          fmt::format("{}: {}", report::task_title(task), report::row_label(cell->row))));
    }
  }

  const Experiment& e_;
  const std::vector<ReportCell>& cells_;
  const Images images_;
  const Tensor few_;  // the first images
};

report::Report make_report(const Experiment& e,
                           const ExperimentInputs& inputs,
                           const std::vector<ReportCell>& cells) {
  report::Report report;
  report.title = e.title;
  report.about = e.about;
  report.tasks = e.tasks;
  for (const ReportCell& cell : cells) report.rows.push_back(cell.row);
  report.parameters = {{"data", e.data},
                       {"images", std::to_string(e.images)},
                       {"samples of each", std::to_string(e.samples)},
                       {"sigma_y", fmt::format("{:g}", e.sigma_y)},
                       {"seed", std::to_string(e.seed)}};
  const auto& inception = inputs.metric_networks.inception;
  const auto full_name = [&](const std::string& name) {
    return inception ? metric_name(name, inception->dimensions().front()) : name;
  };
  for (const auto& name : e.metrics) report.columns.push_back(full_name(name));
  for (const report::Plot& plot : e.plots) report.plots.push_back({plot.x, full_name(plot.y)});
  report.sheets = Sheets(e, inputs, cells).all();
  return report;
}

}  // namespace

void write_reports(const std::string& out,
                   const Experiment& experiment,
                   const ExperimentInputs& inputs,
                   const std::vector<ReportCell>& cells) {
  const report::Report report = make_report(experiment, inputs, cells);
  write_file_atomically(out + "/rows.json", to_json(report.rows));
  write_file_atomically(out + "/rows.csv", report::to_csv(report.rows));
  write_file_atomically(out + "/report.md", report::to_markdown(report));
  write_file_atomically(out + "/report.html", report::to_html(report));
}

}  // namespace eps::experiment
