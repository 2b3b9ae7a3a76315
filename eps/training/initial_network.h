// The network a training run begins with.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

// On the CPU: read and widened for what the run shows it, or made anew for such data.
Checkpoint initial_network(const TrainingConfig& config, const Dataset& data);
// Error unless the network takes such images and labels; `name` says whose network it is.
void check_fits(const nets::UNetConfig& network, const Dataset& data, const std::string& name);

}  // namespace eps::training
