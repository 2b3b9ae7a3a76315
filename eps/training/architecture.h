// The architecture of a network from scratch.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

// Throws an Error that names the first field of the architecture that makes no sense.
void check_architecture(const TrainingConfig& config);

// Returns the network that arch, preset and the single sizes describe, for images of any kind: what
// goes in and out is not set.
nets::UNetConfig architecture_of(const TrainingConfig& config);

}  // namespace eps::training
