// The network a training run begins with.
#pragma once

#include "eps/training_config.h"

namespace eps {

// On the CPU: read and widened for what the run shows it, or made anew for such data.
Checkpoint starting_point(const TrainingConfig& config, const Dataset& data);
// Error unless the network takes such images and labels; `name` says whose network it is.
void check_fits(const UNetConfig& network, const Dataset& data, const std::string& name);

}  // namespace eps
