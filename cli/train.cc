// The verb `eps train` trains a prior, EPS, Palette, an input ablation or a bridge, or resumes a
// run.
#include <iostream>
#include <optional>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/io/file.h"
#include "eps/training/run.h"

namespace eps::cli {
namespace {

struct TrainOptions {
  std::string out, resume, config;
  training::TrainingConfig flags;
  std::map<std::string, const CLI::Option*> given;  // by the name of the field
};

// Returns `config` with the values of the flags that were given.
training::TrainingConfig with_flags(const TrainOptions& o, training::TrainingConfig config) {
  for_each_field(config, [&](const std::string& name, auto& value, const char*, bool) {
    if (o.given.at(name)->count() == 0) return;
    for_each_field(o.flags, [&](const std::string& other, const auto& flag, const char*, bool) {
      if constexpr (std::is_same_v<decltype(flag), const std::decay_t<decltype(value)>&>)
        if (other == name) value = flag;
    });
  });
  return config;
}

void run_train(const TrainOptions& o) {
  check(o.out.empty() != o.resume.empty(),
        "eps train: either --out RUN for a new run or --resume RUN is wanted");
  handle_interrupts();
  std::optional<Progress> progress;
  int64_t last = 0;
  const training::TrainingHooks hooks{
      .progress =
          [&](int64_t seen, int64_t total) {
            if (progress)
              progress->advance(seen - last);
            else
              progress.emplace("images", total - seen);
            last = seen;
          },
      .say = [](const std::string& line) { std::cerr << "eps: " << line << '\n'; },
      .stop = interrupted,
      .stopped =
          [&](int64_t seen) {
            std::cerr << "eps: stopped after " << seen << " images; resume with eps train --resume "
                      << (o.resume.empty() ? o.out : o.resume) << '\n';
          }};
  if (o.resume.empty()) {
    training::TrainingConfig config;
    if (!o.config.empty()) config = training::parse_training_config(read_file(o.config), o.config);
    train(with_flags(o, config), o.out, hooks);
  } else {
    check(o.config.empty(),
          "--config ",
          o.config,
          ": a resumed run keeps its own configuration; give single options instead");
    training::resume_training(
        o.resume,
        [&](const training::TrainingConfig& stored) { return with_flags(o, stored); },
        hooks);
  }
  // The exit code shows a script that the training was cut short.
  if (interrupted()) throw CLI::RuntimeError(128 + interrupt_signal());
}

std::string flag_name(std::string field) {
  for (char& c : field)
    if (c == '_') c = '-';
  return "--" + field;
}

}  // namespace

void add_train(CLI::App& app) {
  const auto o = std::make_shared<TrainOptions>();
  auto* verb = app.add_subcommand("train", "Train a network, or resume a run");
  verb->add_option("--out", o->out, "Folder of a new run");
  verb->add_option("--resume", o->resume, "Folder of a run to resume");
  verb->add_option("--config", o->config, "JSON file with any of the fields below")
      ->check(CLI::ExistingFile);
  for_each_field(o->flags, [&](const char* name, auto& value, const char* help, bool) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, bool>) {
      const std::string flag = flag_name(name);
      o->given[name] =
          verb->add_flag(flag + ",!--no-" + flag.substr(2), value, help)->capture_default_str();
    } else {
      o->given[name] = verb->add_option(flag_name(name), value, help)->capture_default_str();
    }
  });
  verb->get_option("--seed")->check(seed_up_to(std::numeric_limits<int64_t>::max()));
  verb->callback([o] { run_train(*o); });
}

}  // namespace eps::cli
