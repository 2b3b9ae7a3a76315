// Runs experiments, cell by cell.
#include "eps/experiment/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/denoiser_cache.h"
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

// A `Stopped` ends a run that was interrupted.
struct Stopped : std::exception {};

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
                         : ""),
        denoisers_(inputs.load) {
    std::map<std::string, Cost> costs;  // by the method with its options
    for (Cell cell : cells_of(experiment, inputs.models)) {
      const std::string method = options_text(cell.choice);
      if (!costs.contains(method)) costs[method] = measured_cost(cell.choice);
      const Cost& cost = costs[method];
      cell.folder += fmt::format("-{:.16}", identity(cell));
      work_[cell.folder] = static_cast<double>(cost.evaluations + 2 * cost.vjps) + kScoring;
      cells_.push_back(cell);
    }
    owner_ = share_out(work_, options.ranks.size);
    open_experiment_folder(options.out, whole(), images_hash_);
  }

  std::vector<report::Row> run() {
    try {
      run_cells();
    } catch (const Stopped&) {
    } catch (...) {
      write_report();
      throw;
    }
    return write_report();
  }

 private:
  // The time that scoring a sample takes, in evaluations of the denoiser, roughly.
  static constexpr double kScoring = 20;

  void run_cells() {
    std::vector<size_t> todo;
    double all = 0;
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (!mine(cells_[i]) || finished(cells_[i])) continue;
      todo.push_back(i);
      all += work_[cells_[i].folder];
      denoisers_.expect(cells_[i].model_file, cells_[i].choice.method.input);
    }
    double left = all;
    const auto start = Clock::now();
    auto reported = start;
    for (const size_t i : todo) {
      const Cell& cell = cells_[i];
      if (o_.stop && o_.stop()) throw Stopped();
      left -= work_[cell.folder];
      if (!finished(cell)) {
        const report::Row row = complete(cell);
        say_progress(i, row, left, seconds_since(start) / (all - left) * left);
      }
      denoisers_.release(cell.model_file, cell.choice.method.input);
      if (i == todo.back() || seconds_since(reported) < o_.report_every) continue;
      write_report();
      reported = Clock::now();
    }
  }

  void say_progress(size_t i, const report::Row& row, double left, double seconds) const {
    say(fmt::format(
        "[{}/{}] {}, {}{}: {}; {}",
        i + 1,
        cells_.size(),
        row.task,
        row.method,
        cells_[i].steps ? fmt::format(" ({})", cells_[i].steps) : "",
        row.error.empty() ? fmt::format("PSNR {:.2f}", row.metrics.at("psnr").value) : row.error,
        left > 0 ? fmt::format("about {:.0f} s left", seconds) : "done"));
  }

  bool mine(const Cell& cell) const { return owner_.at(cell.folder) == o_.ranks.rank; }
  void say(const std::string& line) const {
    if (o_.say) o_.say(line);
  }
  CellFolder folder(const Cell& cell) const {
    return CellFolder(o_.out + "/cells/" + cell.folder, cell.of_mean);
  }

  // Returns a hash of everything that the samples of a cell follow from.
  std::string identity(const Cell& cell) {
    std::string& model = model_hashes_[cell.model_file];
    if (model.empty() && !cell.model_file.empty()) model = content_hash(read_file(cell.model_file));
    return content_hash(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}",
                                    cell.task,
                                    files_hash(cell.task),
                                    options_text(cell.choice),
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
    const auto row = there.row(in_.metric_networks.identity);
    if (row) return row->error.empty();
    // Scored with other networks, and the samples are gone: there is nothing to do.
    const auto any = there.any_row();
    return any && any->error.empty() && !there.has_samples();
  }

  // Tells whether another cell will score the same samples.
  bool wanted_again(const Cell& cell) const {
    return std::any_of(cells_.begin(), cells_.end(), [&](const Cell& other) {
      return other.folder == cell.folder && !finished(other);
    });
  }

  report::Row complete(const Cell& cell) {
    const CellFolder there = folder(cell);
    std::filesystem::create_directories(there.file(""));
    // Another process may hold the lock, and finish the cell before it lets go.
    const FileLock lock(there.file("lock"), FileLock::IfHeld::wait);
    if (finished(cell)) return *there.any_row();
    report::Row row = empty_row(e_, cell);
    remove_temporaries(there.file(""));
    try {
      check(is_exact(e_) || !cell.model_file.empty(), kNeedsNetwork, cell.model);
      if (!there.sampling() || !there.has_samples()) draw(cell, there);
      row = score(cell, there);
      there.write_row(row, in_.metric_networks.identity);
      if (!o_.keep_samples && !wanted_again(cell)) there.discard_samples();
    } catch (const Stopped&) {
      throw;
    } catch (const c10::Error& error) {
      row.error = error.what_without_backtrace();
    } catch (const std::exception& error) {
      row.error = error.what();
    }
    // A row without an error stays, though it was scored with other networks.
    const auto before = there.any_row();
    if (!row.error.empty() && !(before && before->error.empty()))
      there.write_row(row, in_.metric_networks.identity);
    return row;
  }

  Protocol protocol(const Cell& cell) const {
    const int64_t own = e_.batch > 0 ? e_.batch : 16;
    return {cell.task, e_.sigma_y, e_.seed, o_.batch > 0 ? o_.batch : own};
  }

  void draw(const Cell& cell, const CellFolder& there) {
    const LoadedDenoiser loaded =
        denoisers_.get(cell.model_file, cell.choice.method.input, cell.method);
    Shape shape = in_.images.x0.sizes().vec();
    shape.insert(shape.begin(), e_.samples);
    NpyWriter samples(there.samples_file(), at::kFloat, shape);
    std::vector<double> seconds;  // a sample, batch by batch
    auto start = Clock::now();
    const auto append = [&](const Tensor& images) {
      if (o_.stop && o_.stop()) throw Stopped();
      seconds.push_back(seconds_since(start) / static_cast<double>(images.size(0)));
      samples.append(in_.bounded ? images.clamp(-1, 1) : images);
      start = Clock::now();
    };
    const Cost cost = draw_samples(protocol(cell),
                                   cell.choice,
                                   *loaded.denoiser,
                                   in_.images,
                                   in_.device,
                                   e_.samples,
                                   {.vjp_batch = o_.vjp_batch},
                                   append);
    samples.finish();
    // The first batches, which warm the machine up, have no influence on the median.
    const double typical = at::tensor(seconds, at::kDouble).median().item<double>();
    there.write_sampling({cost, typical, loaded.images_seen});
  }

  report::Row score(const Cell& cell, const CellFolder& there) const {
    const Tensor drawn = map_npy(there.samples_file());
    const Tensor samples = cell.of_mean ? drawn.mean(0, /*keepdim=*/true) : drawn;
    const Tensor truth = in_.images.x0.to(at::kCPU);
    const auto problems = make_problems(protocol(cell), in_.images, in_.device);
    const Evaluation evaluation = evaluate(samples,
                                           truth,
                                           {.networks = &in_.metric_networks,
                                            .problems = e_.sigma_y > 0 ? &problems : nullptr,
                                            .seed = e_.seed});
    const Sampling sampling = *there.sampling();
    const auto scored = static_cast<double>(e_.images * samples.size(0));
    report::Row row = empty_row(e_, cell);
    row.nfe = static_cast<double>(sampling.cost.evaluations) / scored;
    row.vjps = static_cast<double>(sampling.cost.vjps) / scored;
    row.solves = static_cast<double>(sampling.cost.solves) / scored;
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

  ReportCell report_cell(const Cell& cell) const {
    auto row = read_row(folder(cell), in_.metric_networks.identity);
    if (!row) {
      row = empty_row(e_, cell);
      row->error = kNotRunYet;
    }
    row->method = cell.label;  // the label may have changed since
    return {cell.folder, cell.of_mean, *row, folder(cell).thumbnails()};
  }

  std::vector<report::Row> write_report() const {
    const FileLock lock(o_.out + "/lock", FileLock::IfHeld::wait);
    std::vector<report::Row> own;
    std::vector<ReportCell> cells;
    for (const Cell& cell : cells_) {
      cells.push_back(report_cell(cell));
      own.push_back(cells.back().row);
    }
    const std::string& networks = in_.metric_networks.identity;
    write_reports(
        o_.out, whole(), in_, merge_finished(cells, whole(), o_.out + "/cells", networks));
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
  std::map<std::string, int64_t> owner_;  // the rank that runs it
  DenoiserCache denoisers_;
};

}  // namespace

std::vector<report::Row> run_experiment(const Experiment& experiment,
                                        const ExperimentInputs& inputs,
                                        const ExperimentOptions& options) {
  return Runner(experiment, inputs, options).run();
}

}  // namespace eps::experiment
