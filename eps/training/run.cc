// A training run.
#include "eps/training/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <future>
#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/io/images/image.h"
#include "eps/runtime/device.h"
#include "eps/training/data.h"
#include "eps/training/initial_network.h"
#include "eps/training/joined_batch.h"
#include "eps/training/preview.h"
#include "eps/training/run_directory.h"

namespace eps::training {
namespace {

Json by_band(const BandSums::Means& means) {
  Json json;
  for (int64_t i = 0; i < bands(); ++i) {
    const double mean = means.bands[static_cast<size_t>(i)];
    json[band_name(i)] = std::isnan(mean) ? Json() : Json(mean);
  }
  return json;
}

// Returns whether a multiple of `every` lies in (before, now], or the run is complete.
bool due(int64_t before, int64_t now, int64_t every, int64_t total) {
  return now >= total || before / every != now / every;
}

class Run {
 public:
  // Without a start, the run begins with initial_network(). Data are loaded before the ranks meet,
  // so that no rank waits for another's.
  Run(const TrainingConfig& config,
      RunDirectory directory,
      at::Device device,
      const std::optional<Checkpoint>& start,
      const TrainingHooks& hooks)
      : config_(config),
        directory_(std::move(directory)),
        // The first rank reports progress; any rank may stop the run.
        hooks_(ranks_in_environment().rank == 0 ? hooks : TrainingHooks{.stop = hooks.stop}),
        data_(load_training_data(config, hooks_.say)),
        start_(on_device(start ? resumed_network(*start, config, *data_.train)
                               : initial_network(config, *data_.train),
                         device)),
        source_(near(*data_.train, device), batch_options(config), device),
        ranks_(Ranks::from_environment(device)),
        trainer_(start_, source_, trainer_options(config), ranks_) {
    check_fits(start_.network.config(), *data_.train, directory_.path());
    try_one_batch();
    if (!data_.held_out) return;
    BatchOptions options = options_of_each();
    options.seed = kHeldOutSeed;
    options.flip = false;
    held_out_.emplace(near(*data_.held_out, device), options, device);
  }

  void resume(const RunDirectory::State& state) {
    trainer_.restore(state.file);
    last_saved_ = state.images;
  }

  void go() {
    last_time_ = std::chrono::steady_clock::now();
    last_logged_ = trainer_.images_seen();
    if (hooks_.progress) hooks_.progress(last_logged_, config_.images);
    bool stopped = false;
    while (trainer_.images_seen() < config_.images && !stopped) {
      const int64_t before = trainer_.images_seen();
      trainer_.step();
      const int64_t now = trainer_.images_seen();
      if (hooks_.progress) hooks_.progress(now, config_.images);
      const auto is_due = [&](int64_t every) { return due(before, now, every, config_.images); };
      const bool look = is_due(config_.log_every) || is_due(config_.save_every);
      // Ranks must stop together; they communicate only when they meet anyway.
      if (ranks_.size() == 1 || look) stopped = anyone_stops();
      if (look || stopped) log();
      if (held_out_ && is_due(config_.validate_every)) validate();
      if (is_due(config_.save_every) || stopped) save();
      if (config_.keep_every > 0 && is_due(config_.keep_every)) keep();
      if (held_out_ && config_.preview_images > 0 && is_due(config_.preview_every)) show();
    }
    finish_saving();
    if (stopped && hooks_.stopped) hooks_.stopped(trainer_.images_seen());
  }

 private:
  static Checkpoint on_device(Checkpoint start, at::Device device) {
    start.network.to(device, at::kFloat);
    return start;
  }
  static const ImageSet& near(ImageSet& data, at::Device device) {
    keep_near(data, device);
    return data;
  }

  // Returns the options of batches that show every task, few as their images are.
  BatchOptions options_of_each() const {
    BatchOptions options = batch_options(config_);
    options.task_run = 1;
    return options;
  }

  // Tries one batch, so that operators and preconditioning that do not fit are refused before the
  // run has a folder.
  void try_one_batch() const {
    const c10::NoGradGuard no_grad;
    try {
      // Operators are made once where the run's own source will do.
      std::optional<BatchSource> each;
      if (config_.task_run > 1)
        each.emplace(*data_.train, options_of_each(), start_.network.device());
      const TrainingBatch batch =
          (each ? *each : source_)
              .draw(0, std::min<int64_t>(64, std::max<int64_t>(config_.batch, 8)));
      const JoinedBatch all(
          start_.preconditioning.on(start_.network.device()), start_.input, batch);
      all.input();
      if (config_.loss == "image") all.mean_square_out();
    } catch (const Error& error) {
      fail("training: the tasks do not go with input=",
           config_.input,
           " and preconditioning=",
           config_.preconditioning,
           ": ",
           error.what());
    }
  }

  bool anyone_stops() const {
    const bool own = hooks_.stop && hooks_.stop();
    if (ranks_.size() == 1) return own;
    const auto where = at::TensorOptions(start_.network.device()).dtype(at::kFloat);
    const Tensor votes = at::full({1}, own ? 1.0 : 0.0, where);
    ranks_.sum(votes);
    return votes.item<float>() > 0;
  }

  void write_line(const std::string& line) {
    directory_.log(line);
    if (hooks_.log) hooks_.log(line);
  }

  void log() {
    const double rate = trainer_.learning_rate();
    const Trainer::Report report = trainer_.report();  // waits for the device
    const int64_t images = trainer_.images_seen();
    check(report.loss.finite,
          "training: the loss was not finite between ",
          last_logged_,
          " and ",
          images,
          " images; ",
          last_saved_ < 0 ? "there is no checkpoint yet"
                          : "the last checkpoint is that of " + std::to_string(last_saved_));
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_time_).count();
    if (ranks_.first())
      write_line(json_text({{"images", images},
                            {"loss", report.loss.all},
                            {"loss_by_sigma", by_band(report.loss)},
                            {"images_per_second",
                             static_cast<double>(images - last_logged_) / std::max(seconds, 1e-9)},
                            {"learning_rate", rate},
                            {"gradient_norm", report.gradient_norm}}));
    last_logged_ = images;
    last_time_ = std::chrono::steady_clock::now();
  }

  void validate() {
    const auto means = validation_loss(trainer_.average(),
                                       *held_out_,
                                       std::min(config_.validation_images, data_.held_out->size()),
                                       std::min<int64_t>(config_.batch, 256),
                                       ranks_);
    if (ranks_.first())
      write_line(json_text({{"images", trainer_.images_seen()},
                            {"validation_loss", means.all},
                            {"validation_loss_by_sigma", by_band(means)}}));
    last_time_ = std::chrono::steady_clock::now();
  }

  // Saves in the background: training continues meanwhile, on all ranks.
  void save() {
    check(trainer_.finite(),
          "training: the weights are not finite after ",
          trainer_.images_seen(),
          " images and are not saved");
    if (!ranks_.first()) return;
    finish_saving();
    last_saved_ = trainer_.images_seen();
    saving_ = std::async(
        std::launch::async,
        [directory = directory_,
         images = last_saved_,
         state = trainer_.state(),
         average = to_safetensors(trainer_.average())] { directory.save(images, state, average); });
    last_time_ = std::chrono::steady_clock::now();
  }

  // Keeps the network of this time for good.
  void keep() {
    if (!ranks_.first()) return;
    const std::string name = fmt::format("network-{:012d}.safetensors", trainer_.images_seen());
    write_safetensors(directory_.file(name), to_safetensors(trainer_.average()));
    last_time_ = std::chrono::steady_clock::now();
  }

  void finish_saving() {
    if (saving_.valid()) saving_.get();
  }

  void show() {
    // Every rank draws the picture, and one writes it, so that no rank waits.
    const Tensor picture = preview(
        trainer_.average(), *held_out_, std::min(config_.preview_images, data_.held_out->size()));
    const std::string name = fmt::format("preview-{:012d}.png", trainer_.images_seen());
    if (ranks_.first()) write_png(directory_.file(name), picture);
    last_time_ = std::chrono::steady_clock::now();
  }

  const TrainingConfig config_;
  const RunDirectory directory_;
  const TrainingHooks hooks_;
  TrainingData data_;
  const Checkpoint start_;
  const BatchSource source_;
  const Ranks ranks_;
  std::optional<BatchSource> held_out_;
  Trainer trainer_;
  std::future<void> saving_;
  int64_t last_saved_ = -1;
  std::chrono::steady_clock::time_point last_time_;
  int64_t last_logged_ = 0;
};

// Writes the network of a finished run again where it is absent, broken or older than the state.
void mend_network(const RunDirectory& directory, const RunDirectory::State& state) {
  const Checkpoint average = Trainer::average_in(state.file, state.name);
  const auto there = directory.network();
  if (there && there->provenance.images_seen >= average.provenance.images_seen) return;
  directory.write_network(to_safetensors(average));
}

}  // namespace

void train(const TrainingConfig& wanted, const std::string& path, const TrainingHooks& hooks) {
  const TrainingConfig config = resolved(wanted);
  const RankNumbers rank = ranks_in_environment();
  const at::Device device = parse_device(config.device, rank.local);
  prepare_device(device);
  // The folder is made after everything that could be wrong with the start has been checked.
  if (rank.rank == 0) RunDirectory::check_free(path);
  std::unique_ptr<FileLock> lock;  // outlives the run, which may still be saving when it ends
  Run run(config, RunDirectory(path), device, std::nullopt, hooks);
  if (rank.rank == 0) lock = RunDirectory::create(path, to_json(config));
  run.go();
}

void resume_training(const std::string& path,
                     const std::function<TrainingConfig(const TrainingConfig&)>& change,
                     const TrainingHooks& hooks) {
  const RunDirectory directory = RunDirectory::open(path);
  const TrainingConfig stored =
      parse_training_config(directory.config(), directory.file("config.json"));
  const TrainingConfig config = resolved(change(stored));
  check_resumable(stored, config);
  const RankNumbers rank = ranks_in_environment();
  const at::Device device = parse_device(config.device, rank.local);
  prepare_device(device);
  const auto lock = rank.rank == 0 ? directory.lock() : nullptr;
  const auto state = directory.newest_state(rank.rank == 0 ? hooks.say : nullptr);
  if (state && state->images >= config.images) {
    if (rank.rank == 0) mend_network(directory, *state);
    if (rank.rank == 0 && hooks.say)
      hooks.say(fmt::format(
          "{} has seen {} images already, and {} are wanted", path, state->images, config.images));
    return;
  }
  std::optional<Checkpoint> start;
  if (state) start = Trainer::network_in(state->file, state->name);
  Run run(config, directory, device, start, hooks);
  if (state) run.resume(*state);
  // The folder stays unchanged until everything has been found to fit.
  if (rank.rank == 0) {
    directory.sweep();
    directory.rewind_log(state ? state->images : 0);
    directory.write_config(to_json(config));
  }
  run.go();
}

}  // namespace eps::training
