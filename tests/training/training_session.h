// Small training runs in memory.
#pragma once

#include "eps/training/initial_network.h"
#include "eps/training/joined_batch.h"
#include "eps/training/trainer.h"

namespace eps::training {

inline TrainingConfig tiny(const std::string& input, const std::vector<std::string>& tasks) {
  TrainingConfig config;
  config.input = input;
  config.tasks = tasks;
  config.preset = "tiny";
  config.batch = 8;
  config.learning_rate = 2e-3;
  config.rampup = 200;
  config.ema_halflife = 500;
  return resolved(config);
}

inline TrainingConfig tuned_from(const std::string& start, const std::string& input) {
  TrainingConfig config = tiny(input, {"gaussian_deblurring"});
  config.start = start;
  config.arch = config.preset = "";
  config.preconditioning = "auto";
  return resolved(config);
}

inline Dataset synthetic(int64_t count, const std::string& options = "") {
  return read_dataset({"synthetic:size=16,count=" + std::to_string(count) + options}, {});
}

// A `Session` holds a trainer with its configuration, data and source of batches.
struct Session {
  template <class Set>
  Session(const TrainingConfig& c, const Set& d)
      : config(c),
        data(std::make_shared<Set>(d)),
        source(*data, batch_options(config), at::kCPU),
        trainer(initial_network(config, *data), source, trainer_options(config)) {}
  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i) trainer.step();
  }

  const TrainingConfig config;
  const std::shared_ptr<const ImageSet> data;
  const BatchSource source;
  Trainer trainer;
};

}  // namespace eps::training
