// The network a training run begins with.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

// Returns the first network of a run, on the CPU: read and widened for the run's input, or new and
// made for the data.
Checkpoint initial_network(const TrainingConfig& config, const ImageSet& data);
// Returns the network with which a run goes on. Crops of another side than before give it another
// resolution, and its preconditioning another spectrum.
Checkpoint resumed_network(Checkpoint state, const TrainingConfig& config, const ImageSet& data);
// Throws an Error unless the network takes images and labels like those of the data; `name` is the
// network's.
void check_fits(const nets::UNetConfig& network, const ImageSet& data, const std::string& name);

}  // namespace eps::training
