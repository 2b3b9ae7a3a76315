// Steps of eps restore that eps demo repeats.
#pragma once

#include "cli/model.h"
#include "eps/restore/restore.h"

namespace eps::cli {

// Loads the network of the options, and refuses one that cannot restore measurements by the method,
// or by its own if none is given.
Checkpoint load_restoring_network(const ModelOptions& options, const std::string& method = "");

// Runs restore_measurement() with a progress bar and the warnings on stderr.
RestorationResult restore_in_sight(RestorationRequest request,
                                   const ModelOptions& options,
                                   const Checkpoint& model);

}  // namespace eps::cli
