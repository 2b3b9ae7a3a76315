// The network a training run begins with.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

// Returns the first network of a run, on the CPU: read and widened for the run's input, or new and
// made for the data.
Checkpoint initial_network(const TrainingConfig& config, const ImageSet& data);
// Throws an Error unless the network takes images and labels like those of the data; `name` is the
// network's.
void check_fits(const nets::UNetConfig& network, const ImageSet& data, const std::string& name);

}  // namespace eps::training
