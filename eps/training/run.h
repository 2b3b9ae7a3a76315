// A training run from its configuration to its last checkpoint.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

// `TrainingHooks` are functions that a run calls, on the first rank but for `stop`; each may be
// left out.
struct TrainingHooks {
  std::function<void(int64_t seen, int64_t total)> progress = {};  // at the start and every step
  std::function<void(const std::string&)> say = {};
  std::function<void(const std::string& line)> log = {};  // each new line of log.jsonl
  std::function<bool()> stop = {};  // called now and then: true ends the run after a checkpoint
  std::function<void(int64_t seen)> stopped = {};  // in the end, where `stop` ended the run
};

// Trains in a new folder.
void train(const TrainingConfig& config, const std::string& directory, const TrainingHooks& hooks);

// Resumes a run from its newest checkpoint. `change` maps the stored configuration to that of the
// resumed run.
void resume_training(const std::string& directory,
                     const std::function<TrainingConfig(const TrainingConfig&)>& change,
                     const TrainingHooks& hooks);

}  // namespace eps::training
