// The configurations that diffusers writes beside a network, as ours.
#pragma once

#include "eps/base/spec.h"
#include "eps/io/safetensors.h"
#include "eps/model/precondition.h"
#include "eps/nets/config.h"

namespace eps {

// Returns the network that a config.json of the class UNet2DModel describes. What our plan lacks is
// an Error that names the field and what is read.
nets::UNetConfig diffusers_unet(const std::string& config, const Spec& options);

// Returns the process that the scheduler's configuration in the metadata describes, or the options.
Preconditioning diffusers_process(const Safetensors& file, const Spec& options);

}  // namespace eps
