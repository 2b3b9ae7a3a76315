// The verb `eps runs` prints a table of training runs, read from their folders.
#include <fmt/format.h>

#include <iostream>

#include "cli/verbs.h"
#include "eps/base/json_fields.h"
#include "eps/training/config.h"
#include "eps/training/loss_by_noise.h"
#include "eps/training/run_directory.h"
#include "eps/training/run_log.h"

namespace eps::cli {
namespace {

// A `RunSummary` holds the configuration of a run and the last values of its log.
struct RunSummary {
  training::TrainingConfig config;
  int64_t images = 0;
  double images_per_second = 0;  // the median over the log
  Json validation;               // by band; null: none yet
};

RunSummary summarise(const std::string& path) {
  const training::RunDirectory run = training::RunDirectory::open(path);
  RunSummary summary;
  summary.config = training::parse_training_config(run.config(), run.file("config.json"));
  std::vector<double> speeds;
  for (const training::LogLine& line : training::read_log(run.file("log.jsonl"))) {
    JsonFields fields(line.json, line.where);
    fields.optional("images", summary.images);
    if (fields.has("images_per_second")) speeds.push_back(fields.get<double>("images_per_second"));
    if (const Json* losses = fields.find("validation_loss_by_sigma")) summary.validation = *losses;
  }
  if (!speeds.empty())
    summary.images_per_second = at::tensor(speeds, at::kDouble).median().item<double>();
  return summary;
}

void print_runs(const std::vector<std::string>& paths) {
  std::vector<RunSummary> summaries;
  for (const auto& path : paths) summaries.push_back(summarise(path));
  std::string header = "| run | input | preconditioning | images | images/s |", rule = "|";
  for (int64_t i = 0; i < training::bands(); ++i) header += " " + training::band_name(i) + " |";
  for (int64_t i = 0; i < training::bands() + 5; ++i) rule += " --- |";
  std::cout << header << '\n' << rule << '\n';
  for (size_t n = 0; n < paths.size(); ++n) {
    const RunSummary& s = summaries[n];
    std::string row = fmt::format("| {} | {} | {} | {} | {:.4g} |",
                                  paths[n],
                                  s.config.input,
                                  s.config.preconditioning,
                                  s.images,
                                  s.images_per_second);
    for (int64_t i = 0; i < training::bands(); ++i) {
      const Json value =
          s.validation.is_object() ? s.validation.value(training::band_name(i), Json()) : Json();
      row += value.is_number() ? fmt::format(" {:.4f} |", value.get<double>()) : " |";
    }
    std::cout << row << '\n';
  }
}

}  // namespace

void add_runs(CLI::App& app) {
  const auto paths = std::make_shared<std::vector<std::string>>();
  auto* verb = app.add_subcommand(
      "runs", "Compare training runs: validation loss by noise level, as a Markdown table");
  verb->add_option("RUN", *paths, "Folders of runs")->required();
  verb->callback([paths] { print_runs(*paths); });
}

}  // namespace eps::cli
