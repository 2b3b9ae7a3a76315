// What eps restore is told and does; eps demo does the same several times.
#pragma once

#include "cli/model.h"
#include "cli/restored.h"

namespace eps::cli {

struct RestoreOptions {
  std::string input, noise, out, model = "faces64-eps";
  OperatorOptions made_by;
  ModelOptions network;
  bool simulate = false;
  int64_t samples = 8, steps = 20, batch = 16;
  uint64_t seed = 0;
};

// The network of the options; one that is not trained for the posterior is an Error.
Checkpoint load_posterior_network(const RestoreOptions& options);

// Reads or simulates the measurement, and restores it.
Restored restore(const RestoreOptions& options, const Checkpoint& model);

}  // namespace eps::cli
