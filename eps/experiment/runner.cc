// Running an experiment, cell by cell.
#include "eps/experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/folder.h"
#include "eps/experiment/plan.h"
#include "eps/experiment/report_builder.h"
#include "eps/experiment/report_cells.h"
#include "eps/io/bytes.h"
#include "eps/io/content_hash.h"
#include "eps/io/file.h"
#include "eps/io/file_lock.h"
#include "eps/io/npy.h"
#include "eps/metrics/evaluation.h"

namespace eps::experiment {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns the median, in which the slow first batches do not count.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Runner {
 public:
  Runner(const Experiment& experiment,
         const ExperimentInputs& inputs,
         const ExperimentOptions& options)
      : e_(experiment),
        in_(inputs),
        o_(options),
        images_hash_(content_hash(bytes_of(inputs.images.x0.to(at::kCPU).contiguous()))),
        labels_hash_(inputs.images.labels.defined()
                         ? content_hash(bytes_of(inputs.images.labels.to(at::kCPU).contiguous()))
                         : "") {
    for (Cell cell : cells_of(experiment, inputs.models)) {
      const MethodChoice choice = choose_method(cell.method, cell.task, cell.steps);
      const Cost cost = measured_cost(choice);
      cell.folder += fmt::format("-{:.16}", identity(cell, choice));
      work_[cell.folder] = static_cast<double>(cost.evaluations + 2 * cost.vjps) + kScoring;
      cells_.push_back(cell);
    }
    owner_ = share_out(work_, options.ranks.size);
    open_experiment_folder(options.out, whole(), images_hash_);
  }

  std::vector<report::Row> run() {
    double left = 0;
    for (const Cell& cell : cells_)
      if (mine(cell) && !finished(cell)) left += work_[cell.folder];
    const double all = left;
    const auto start = Clock::now();
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (!mine(cells_[i]) || finished(cells_[i])) continue;
      const report::Row row = complete(cells_[i]);
      left -= work_[cells_[i].folder];
      const double remaining = seconds_since(start) / (all - left) * left;
      say(fmt::format(
          "[{}/{}] {}, {}{}: {}; {}",
          i + 1,
          cells_.size(),
          row.task,
          row.method,
          cells_[i].steps ? fmt::format(" ({})", cells_[i].steps) : "",
          row.error.empty() ? fmt::format("PSNR {:.2f}", row.metrics.at("psnr").value) : row.error,
          left > 0 ? fmt::format("about {:.0f} s left", remaining) : "done"));
      write_report();
    }
    return write_report();
  }

 private:
  // The cost of scoring, roughly, in evaluations of the denoiser.
  static constexpr double kScoring = 20;

  bool mine(const Cell& cell) const { return owner_.at(cell.folder) == o_.ranks.rank; }
  void say(const std::string& line) const {
    if (o_.say) o_.say(line);
  }
  CellFolder folder(const Cell& cell) const {
    return CellFolder(o_.out + "/cells/" + cell.folder, cell.of_mean);
  }

  // Returns a hash of everything that the samples depend on.
  std::string identity(const Cell& cell, const MethodChoice& choice) {
    std::string& model = model_hashes_[cell.model_file];
    if (model.empty() && !cell.model_file.empty()) model = content_hash(read_file(cell.model_file));
    return content_hash(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}",
                                    cell.task,
                                    files_hash(cell.task),
                                    options_text(choice),
                                    model,
                                    in_.arithmetic,
                                    images_hash_,
                                    labels_hash_,
                                    e_.images,
                                    e_.samples,
                                    e_.sigma_y,
                                    e_.seed,
                                    in_.bounded));
  }

  bool finished(const Cell& cell) const {
    const CellFolder there = folder(cell);
    const auto row = there.row(in_.judges.identity);
    if (row) return row->error.empty();
    // A cell that other metric networks scored, and whose samples are gone, cannot be scored again.
    const auto any = there.any_row();
    return any && any->error.empty() && !there.has_samples();
  }

  // Returns whether another cell will score the same samples.
  bool wanted_again(const Cell& cell) const {
    return std::any_of(cells_.begin(), cells_.end(), [&](const Cell& other) {
      return other.folder == cell.folder && !finished(other);
    });
  }

  report::Row complete(const Cell& cell) {
    const CellFolder there = folder(cell);
    std::filesystem::create_directories(there.file(""));
    // Another process may be at this cell, which is then finished when the lock is free.
    const FileLock lock(there.file("lock"), FileLock::IfHeld::wait);
    if (finished(cell)) return *there.any_row();
    report::Row row = named(cell);
    remove_temporaries(there.file(""));
    try {
      check(
          is_exact(e_) || !cell.model_file.empty(), "needs a network under the name ", cell.model);
      if (!there.sampling() || !there.has_samples()) draw(cell, there);
      row = score(cell, there);
      there.write_row(row, in_.judges.identity);
      if (!o_.keep_samples && !wanted_again(cell)) there.discard_samples();
    } catch (const c10::Error& error) {
      row.error = error.what_without_backtrace();
    } catch (const std::exception& error) {
      row.error = error.what();
    }
    // A good row stays, even one by other metric networks.
    const auto before = there.any_row();
    if (!row.error.empty() && !(before && before->error.empty()))
      there.write_row(row, in_.judges.identity);
    return row;
  }

  Protocol trial(const Cell& cell) const {
    const int64_t own = e_.batch > 0 ? e_.batch : 16;
    return {cell.task, e_.sigma_y, e_.seed, o_.batch > 0 ? o_.batch : own};
  }

  void draw(const Cell& cell, const CellFolder& there) const {
    const MethodChoice choice = choose_method(cell.method, cell.task, cell.steps);
    const LoadedDenoiser contestant = in_.load(cell.model_file, choice.method.input, cell.method);
    Shape shape = in_.images.x0.sizes().vec();
    shape.insert(shape.begin(), e_.samples);
    NpyWriter samples(there.samples_file(), at::kFloat, shape);
    std::vector<double> seconds;  // a sample, batch by batch
    auto start = Clock::now();
    const auto take = [&](const Tensor& images) {
      seconds.push_back(seconds_since(start) / static_cast<double>(images.size(0)));
      samples.append(in_.bounded ? images.clamp(-1, 1) : images);
      start = Clock::now();
    };
    const Cost cost = draw_samples(trial(cell),
                                   choice,
                                   *contestant.denoiser,
                                   in_.images,
                                   in_.device,
                                   e_.samples,
                                   {.vjp_batch = o_.vjp_batch},
                                   take);
    samples.finish();
    there.write_sampling({cost, median(seconds), contestant.images_seen});
  }

  report::Row named(const Cell& cell) const {
    report::Row row;
    row.task = cell.task;
    row.method = cell.label;
    row.spec = cell.method;
    row.model = cell.model;
    row.steps = cell.steps;
    row.images = e_.images;
    row.samples = e_.samples;
    return row;
  }

  report::Row score(const Cell& cell, const CellFolder& there) const {
    const Tensor drawn = map_npy(there.samples_file());
    const Tensor samples = cell.of_mean ? drawn.mean(0, /*keepdim=*/true) : drawn;
    const Tensor truth = in_.images.x0.to(at::kCPU);
    const auto posed = make_problems(trial(cell), in_.images, in_.device);
    const Evaluation evaluation = evaluate(
        samples,
        truth,
        {.judges = &in_.judges, .problems = e_.sigma_y > 0 ? &posed : nullptr, .seed = e_.seed});
    const Sampling sampling = *there.sampling();
    const auto judged = static_cast<double>(e_.images * samples.size(0));
    report::Row row = named(cell);
    row.nfe = static_cast<double>(sampling.cost.evaluations) / judged;
    row.vjps = static_cast<double>(sampling.cost.vjps) / judged;
    row.solves = static_cast<double>(sampling.cost.solves) / judged;
    row.images_seen = sampling.images_seen;
    row.samples = samples.size(0);
    row.seconds = sampling.seconds * static_cast<double>(e_.samples / samples.size(0));
    row.metrics = evaluation.metrics;
    row.absent = evaluation.absent;
    if (e_.sigma_y == 0) row.absent["chi2"] = "needs measurement noise";
    row.ranks = evaluation.ranks;
    const auto few = [](const Tensor& all) { return all.slice(1, 0, kMostSheetImages); };
    there.write_thumbnails({few(samples).slice(0, 0, 4).clone(),
                            few(drawn).mean(0),
                            few(drawn).std(0, /*unbiased=*/false)});
    return row;
  }

  ReportCell shown(const Cell& cell) const {
    auto row = read_row(folder(cell), in_.judges.identity);
    if (!row) {
      row = named(cell);
      row->error = kNotRunYet;
    }
    row->method = cell.label;  // the label may have changed since
    return {cell.folder, cell.of_mean, *row, folder(cell).thumbnails()};
  }

  std::vector<report::Row> write_report() const {
    const FileLock lock(o_.out + "/lock", FileLock::IfHeld::wait);
    std::vector<report::Row> own, rows;
    std::vector<ReportCell> cells;
    for (const Cell& cell : cells_) {
      cells.push_back(shown(cell));
      own.push_back(cells.back().row);
    }
    cells = merge_finished(cells, whole(), o_.out + "/cells", in_.judges.identity);
    std::vector<std::optional<Thumbnails>> thumbnails;
    for (const ReportCell& cell : cells) {
      rows.push_back(cell.row);
      thumbnails.push_back(cell.thumbnails);
    }
    const report::Report report = make_report(whole(), in_, rows, thumbnails);
    write_file_atomically(o_.out + "/rows.json", to_json(rows));
    write_file_atomically(o_.out + "/rows.csv", report::to_csv(rows));
    write_file_atomically(o_.out + "/report.md", report::to_markdown(report));
    write_file_atomically(o_.out + "/report.html", report::to_html(report));
    return own;
  }

  const Experiment& whole() const { return o_.whole ? *o_.whole : e_; }

  const Experiment& e_;
  const ExperimentInputs& in_;
  const ExperimentOptions& o_;
  const std::string images_hash_, labels_hash_;
  std::map<std::string, std::string> model_hashes_;
  std::vector<Cell> cells_;
  std::map<std::string, double> work_;    // by folder
  std::map<std::string, int64_t> owner_;  // the rank that does it
};

}  // namespace

std::vector<report::Row> run_experiment(const Experiment& experiment,
                                        const ExperimentInputs& inputs,
                                        const ExperimentOptions& options) {
  return Runner(experiment, inputs, options).run();
}

}  // namespace eps::experiment
