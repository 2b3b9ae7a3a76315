// Networks of guided-diffusion (Dhariwal and Nichol 2021) and of what is built on it: state dicts
// with tensors such as `input_blocks.0.0.weight`.
//
// Widths, blocks, attention, resampling, classes and learnt variance follow from the tensors. What
// does not follow has fields: the heads of attention, the order of their rows, the noise schedule
// and its steps, what the network predicts, and the size of the images.
#pragma once

#include "eps/base/spec.h"
#include "eps/io/safetensors.h"

namespace eps {

bool is_guided_diffusion(const Safetensors& file);

// Returns the fields of a spec, without the file. Without values they are those of the published
// networks of the same sizes.
std::vector<Field> guided_diffusion_fields();

// Returns the network as a checkpoint of ours. `options` has been resolved by the fields.
Safetensors from_guided_diffusion(const Safetensors& file, const Spec& options);

}  // namespace eps
