// The verb `eps bench` runs an experiment, or resumes one.
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "cli/images.h"
#include "cli/interrupt.h"
#include "cli/model.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/experiment/runner.h"
#include "eps/io/file.h"
#include "eps/model/bundled.h"
#include "eps/model/network_denoiser.h"
#include "eps/priors/exact_data.h"
#include "eps/runtime/device.h"

namespace eps::cli {
namespace {

struct BenchOptions {
  std::string file, data, labels, inception;
  std::vector<std::string> models, tasks, methods, lpips;
  int64_t images = 0, samples = 0;
  double sigma_y = -1;
  int64_t seed = -1;
  std::string device = "auto", dtype = "auto";
  bool discard = false;
  experiment::ExperimentOptions run;
};

// Returns the experiment of the file, with the values given on the command line in place of its
// own.
experiment::Experiment read_experiment(const BenchOptions& o) {
  experiment::Experiment e = experiment::parse_experiment(read_file(o.file), o.file);
  if (!o.data.empty()) e.data = o.data;
  if (o.images > 0) e.images = o.images;
  if (o.samples > 0) e.samples = o.samples;
  check(o.sigma_y == o.sigma_y, "--sigma-y must be a number, got ", o.sigma_y);
  if (o.sigma_y >= 0) e.sigma_y = o.sigma_y;
  if (o.seed >= 0) e.seed = static_cast<uint64_t>(o.seed);
  check(!e.data.empty(), o.file, ": names no data; give them with --data FILE");
  return e;
}

// Returns the experiment with only the tasks and methods named on the command line; all if none is.
experiment::Experiment asked_for(experiment::Experiment e, const BenchOptions& o) {
  const auto keep = [&](auto& all, const std::vector<std::string>& wanted, auto name, auto what) {
    if (wanted.empty()) return;
    std::decay_t<decltype(all)> kept;
    for (const auto& text : wanted) {
      const size_t before = kept.size();
      for (const auto& item : all)
        if (name(item) == text) kept.push_back(item);
      check(kept.size() > before, o.file, ": has no ", what, " ", text);
    }
    all = kept;
  };
  keep(
      e.tasks, o.tasks, [](const std::string& task) { return task; }, "task");
  keep(
      e.methods,
      o.methods,
      [](const experiment::MethodEntry& c) { return c.label; },
      "method with the label");
  return e;
}

std::map<std::string, std::vector<std::string>> parse_models(
    const std::vector<std::string>& pairs) {
  std::map<std::string, std::vector<std::string>> models;
  for (const auto& pair : pairs) {
    const size_t equals = pair.find('=');
    check(equals != std::string::npos && equals > 0 && equals + 1 < pair.size(),
          "--model ",
          pair,
          ": NAME=FILE is wanted, such as prior=network.safetensors");
    models[pair.substr(0, equals)].push_back(find_model(pair.substr(equals + 1)));
  }
  return models;
}

void use_exact_prior(const BenchOptions& o,
                     const experiment::Experiment& e,
                     experiment::ExperimentInputs& inputs) {
  check(o.models.empty() && o.labels.empty(),
        e.data,
        ": a known prior takes neither networks (--model) nor labels (--labels)");
  const ExactData exact = draw_exact_data(e.data, e.images);
  inputs.images.x0 = exact.images;
  inputs.bounded = false;
  inputs.load = [exact](const std::string&, const NetworkInput&, const std::string&) {
    return experiment::LoadedDenoiser{exact.denoiser};
  };
}

// Sets up networks, and images of the size that the first network takes.
void use_networks(const BenchOptions& o,
                  const experiment::Experiment& e,
                  experiment::ExperimentInputs& inputs) {
  std::string first;
  std::vector<std::string> missing;
  for (const experiment::Cell& cell : experiment::cells_of(e, inputs.models)) {
    if (first.empty()) first = cell.model_file;
    const bool seen = std::find(missing.begin(), missing.end(), cell.model) != missing.end();
    if (cell.model_file.empty() && !seen) missing.push_back(cell.model);
  }
  const std::string wanted = fmt::format("{}", fmt::join(missing, ", "));
  check(!first.empty(),
        o.file,
        ": no network is given; give one with --model NAME=FILE for ",
        wanted);
  if (!missing.empty())
    std::cerr << "eps: no network is given for " << wanted << "; give one with --model NAME=FILE\n";
  const Checkpoint model = load_network(first);
  const Dataset data = read_clean_images(e.data, e.images, model.network.config());
  check(data.size() == e.images,
        e.data,
        ": ",
        data.size(),
        " images, the experiment needs ",
        e.images,
        "; --images N lowers the number");
  inputs.images = {data.images, labels_for(o.labels, model, data)};
  inputs.arithmetic = o.dtype == "auto" ? "" : o.dtype;
  inputs.load = [device = inputs.device, dtype = o.dtype](
                    const std::string& file, const NetworkInput& input, const std::string& method) {
    const Checkpoint network =
        load_model({file, device.str(), dtype}, input, "the method " + method);
    return experiment::LoadedDenoiser{std::make_shared<NetworkDenoiser>(network),
                                      network.provenance.images_seen};
  };
}

void print_outcome(const std::vector<report::Row>& rows, const std::string& out) {
  size_t failed = 0, waiting = 0, without_network = 0;
  for (const report::Row& row : rows) {
    waiting += row.error == experiment::kNotRunYet;
    failed += !row.error.empty() && row.error != experiment::kNotRunYet;
    without_network += row.error.starts_with(experiment::kNeedsNetwork);
  }
  fmt::print("{} of {} cells", rows.size() - failed - waiting, rows.size());
  if (failed > 0) fmt::print(", {} failed", failed);
  if (waiting > 0)
    fmt::print(", {} {}", waiting, interrupted() ? "not run yet" : "left to other processes");
  fmt::print("; {}/report.html\n", out);
  if (without_network > 0) fmt::print("give networks with --model NAME=FILE\n");
  if (interrupted()) fmt::print("interrupted; the same command resumes\n");
  if (failed > 0 || interrupted()) throw CLI::RuntimeError(1);
}

void run_bench(BenchOptions& o) {
  o.run.whole = read_experiment(o);
  const experiment::Experiment experiment = asked_for(*o.run.whole, o);
  o.run.ranks = ranks_in_environment();
  o.run.keep_samples = !o.discard;
  o.run.say = [](const std::string& line) { std::cerr << line << std::endl; };
  o.run.stop = interrupted;
  handle_interrupts();
  experiment::ExperimentInputs inputs;
  inputs.models = parse_models(o.models);
  inputs.device = parse_device(is_exact(experiment) ? "cpu" : o.device, o.run.ranks.local);
  prepare_device(inputs.device);
  if (is_exact(experiment)) {
    use_exact_prior(o, experiment, inputs);
  } else {
    use_networks(o, experiment, inputs);
  }
  inputs.metric_networks =
      load_metric_networks(o.lpips, o.inception, o.run.out + "/features", inputs.device);
  const auto rows = experiment::run_experiment(experiment, inputs, o.run);
  print_outcome(rows, o.run.out);
}

}  // namespace

void add_bench(CLI::App& app) {
  const auto o = std::make_shared<BenchOptions>();
  auto* verb = app.add_subcommand("bench", "Run an experiment, or resume one");
  verb->add_option("FILE", o->file, "Experiment; see experiments/")
      ->required()
      ->check(CLI::ExistingFile);
  verb->add_option(
          "--out", o->run.out, "Folder of the results; an experiment begun there is resumed")
      ->required();
  verb->add_option("--data", o->data, "Clean images: a folder, an EDM .zip, .npy, or exact:...");
  verb->add_option(
      "--model",
      o->models,
      "NAME=FILE: the network for prior, eps, palette, ...; FILE may be a name of eps list models");
  const CLI::Range count(1, 1000000);
  verb->add_option("--images", o->images, "Use only the first N images")->check(count);
  verb->add_option("--samples", o->samples, "Samples of each image")->check(count);
  verb->add_option("--sigma-y", o->sigma_y, "Measurement noise")->check(CLI::NonNegativeNumber);
  verb->add_option("--seed", o->seed, "Seed of operators, noise and samples")
      ->check(seed_up_to(uint64_t{INT64_MAX}));
  verb->add_option("--tasks", o->tasks, "Only these tasks of the experiment");
  verb->add_option("--methods", o->methods, "Only the methods with these labels");
  verb->add_option("--labels", o->labels, "Class labels, instead of the data's");
  verb->add_option("--lpips", o->lpips, "LPIPS weights, from eps convert; several are allowed");
  verb->add_option("--inception", o->inception, "Inception weights for FID, from eps convert");
  verb->add_option("--batch", o->run.batch, "Samples in memory together; 16 if not given")
      ->check(count);
  verb->add_option(
          "--vjp-batch", o->run.vjp_batch, "Samples whose derivatives are in memory together")
      ->check(count)
      ->capture_default_str();
  verb->add_flag("--discard-samples", o->discard, "Delete the samples of a cell once it is scored");
  verb->add_option("--device", o->device, "auto, cpu, cuda or cuda:K")->capture_default_str();
  verb->add_option("--dtype", o->dtype, "Arithmetic: auto, float32, bfloat16 or float16")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16", "float16"}))
      ->capture_default_str();
  verb->callback([o] { run_bench(*o); });
}

}  // namespace eps::cli
