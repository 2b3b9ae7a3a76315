// From the rows of an experiment to its report.
#include "eps/experiment/report_builder.h"

#include <fmt/format.h>

#include <limits>

#include "eps/io/images/image.h"
#include "eps/metrics/psnr.h"
#include "eps/report/table.h"

namespace eps::experiment {
namespace {

// `Columns` gathers the columns of a sheet, each (K, C, H, W) with the PSNR of its images or
// without.
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
         const std::vector<report::Row>& rows,
         const std::vector<std::optional<Thumbnails>>& thumbnails)
      : e_(experiment), rows_(rows), glimpses_(thumbnails) {
    few_ = {inputs.images.x0.slice(0, 0, experiment.sheet_images).to(at::kCPU, at::kDouble)};
  }

  std::vector<report::PictureGrid> all() const {
    const int64_t channels = few_.x0.size(1);
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
  // Returns the columns of the image and its measurement, the same for every cell of the task.
  Columns begin(const std::string& task) const {
    const Problem problem =
        make_problems(
            {.task = task, .sigma_y = e_.sigma_y, .seed = e_.seed, .batch = few_.x0.size(0)},
            few_,
            at::kCPU)
            .front();
    Columns columns;
    columns.add("truth", few_.x0);
    columns.add("measurement", problem.A->format().picture(problem.y).expand_as(few_.x0));
    return columns;
  }
  // Returns the rows of the task that have pictures.
  std::vector<size_t> finished(const std::string& task) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].task == task && glimpses_[i] && rows_[i].error.empty()) found.push_back(i);
    return found;
  }
  Tensor few(const Tensor& images) const { return images.slice(0, 0, few_.x0.size(0)); }
  Tensor quality(const Tensor& images) const { return psnr(images, few_.x0); }

  // Adds a sheet with the first sample of each method.
  void add_methods(const std::string& task, std::vector<report::PictureGrid>& sheets) const {
    const auto found = finished(task);
    if (found.empty()) return;
    Columns columns = begin(task);
    for (const size_t i : found) {
      const Tensor sample = few(glimpses_[i]->samples[0]);
      columns.add(report::row_label(rows_[i]), sample, quality(sample));
    }
    sheets.push_back(columns.sheet(report::task_title(task)));
  }

  // Adds a sheet for each method: samples, their mean and their standard deviation.
  void add_samples(const std::string& task, std::vector<report::PictureGrid>& sheets) const {
    const auto found = finished(task);
    if (found.empty()) return;
    const Columns first = begin(task);
    for (const size_t i : found) {
      const Thumbnails& thumbnails = *glimpses_[i];
      Columns columns = first;
      for (int64_t k = 0; k < thumbnails.samples.size(0); ++k) {
        const Tensor sample = few(thumbnails.samples[k]);
        columns.add(fmt::format("sample {}", k + 1), sample, quality(sample));
      }
      columns.add("mean", few(thumbnails.mean), quality(few(thumbnails.mean)));
      // Black is a standard deviation of 0, white one of 0.5 or more.
      columns.add("std", few(thumbnails.deviation) * 4 - 1);
      sheets.push_back(columns.sheet(
          fmt::format("{}: {}", report::task_title(task), report::row_label(rows_[i]))));
    }
  }

  const Experiment& e_;
  const std::vector<report::Row>& rows_;
  const std::vector<std::optional<Thumbnails>>& glimpses_;
  Images few_;
};

}  // namespace

report::Report make_report(const Experiment& e,
                           const ExperimentInputs& inputs,
                           const std::vector<report::Row>& rows,
                           const std::vector<std::optional<Thumbnails>>& thumbnails) {
  report::Report report;
  report.title = e.title;
  report.about = e.about;
  report.tasks = e.tasks;
  report.rows = rows;
  report.parameters = {{"data", e.data},
                       {"images", std::to_string(e.images)},
                       {"samples of each", std::to_string(e.samples)},
                       {"sigma_y", fmt::format("{:g}", e.sigma_y)},
                       {"seed", std::to_string(e.seed)}};
  const auto& inception = inputs.judges.inception;
  const auto actual = [&](const std::string& name) {
    return inception ? metric_name(name, inception->dimensions().front()) : name;
  };
  for (const auto& name : e.metrics) report.columns.push_back(actual(name));
  for (const report::Plot& plot : e.plots) report.plots.push_back({plot.x, actual(plot.y)});
  report.sheets = Sheets(e, inputs, rows, thumbnails).all();
  return report;
}

}  // namespace eps::experiment
