// Checkpoints: a denoising network in one .safetensors file, with what it is and where it is from.
//
// Tensors have EDM's names (`model.enc.64x64_conv.weight`); `prior_spectrum` is beside them where
// the preconditioning uses one. The metadata hold `config`, a JSON object in EDM's keyword names,
// and `provenance`, a JSON object of our own (eps/model_config.h).
#pragma once

#include "eps/io/safetensors.h"
#include "eps/model/config.h"

namespace eps {

struct Checkpoint {
  nets::UNet network;
  Preconditioning preconditioning = {};
  NetworkInput input = {};
  bool use_fp16 = false;
  Provenance provenance = {};
};

// Reads what write_checkpoint() wrote, or any other file with EDM's names and a config; recorded
// answers beside the network (`ref.x`) are passed over. Unknown and missing names and wrong shapes
// are Errors that name the file and the tensor. The network is on the CPU, in float32.
Checkpoint read_checkpoint(const std::string& path);
Checkpoint checkpoint_from(const Safetensors& file, const std::string& name);

// For files that hold more than a checkpoint: copies of its tensors, and its metadata.
Safetensors to_safetensors(const Checkpoint& checkpoint);
Tensor host_copy(const Tensor& tensor);  // contiguous, on the CPU, never the tensor itself

// Floating tensors in this type, for smaller files. Those that are no weights stay as they are,
// since a network would be another with them rounded: `prior_spectrum`, iDDPM's noise levels `u`
// and the frequencies that embed the noise level (`map_noise.freqs`). A number that the type cannot
// hold is an Error that names its tensor.
Safetensors stored_as(Safetensors file, at::ScalarType dtype);

// Stores the numbers in the types the network holds them in; replaces the file in one step.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

}  // namespace eps
