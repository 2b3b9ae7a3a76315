// The command line of eps restore; eps demo does the same several times.
#pragma once

#include "cli/model.h"
#include "cli/restored.h"

namespace eps::cli {

// The network of the options; one that restores no measurements is an Error.
Checkpoint load_posterior_network(const ModelOptions& options);

// restore_measurement() by the network of these options, with a progress bar and the warnings on
// stderr.
RestorationResult restore_in_sight(RestorationRequest request,
                                   const ModelOptions& options,
                                   const Checkpoint& model);

}  // namespace eps::cli
