// Networks of the class UNet2DModel of diffusers: the tensors of a folder, its `config.json` and
// the configuration of its scheduler (eps/io/torch/diffusers_folder.h).
#pragma once

#include "eps/base/spec.h"
#include "eps/io/safetensors.h"

namespace eps {

// Returns whether the file has the tensors of such a network, with or without a configuration.
bool is_diffusers(const Safetensors& file);

// Returns the fields of a spec, without the file: what the scheduler's configuration says if it is
// not stated.
std::vector<Field> diffusers_fields();

// Returns the network as a checkpoint of ours. `options` has been resolved by the fields.
Safetensors from_diffusers(const Safetensors& file, const Spec& options);

}  // namespace eps
