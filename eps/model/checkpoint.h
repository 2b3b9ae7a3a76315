// Checkpoints: a denoising network in one .safetensors file, with its configuration and its origin.
//
// Tensors have EDM's names (`model.enc.64x64_conv.weight`); `prior_spectrum` is beside them where
// the preconditioning uses one. The metadata hold `config`, a JSON object in EDM's keyword names,
// and `provenance`, a JSON object of our own (eps/model/config.h).
#pragma once

#include "eps/io/safetensors.h"
#include "eps/model/config.h"
#include "eps/nets/unet.h"

namespace eps {

// A `Checkpoint` holds a network, its configuration and its origin.
struct Checkpoint {
  nets::UNet network;
  Preconditioning preconditioning = {};
  NetworkInput input = {};
  at::ScalarType gpu_arithmetic = at::kFloat;  // that of its training
  Provenance provenance = {};
};

// Reads a file of write_checkpoint(), or any other with EDM's names and a config, without the
// recorded answers beside the network (`ref.x`). Unknown and missing names and wrong shapes are
// Errors that name the file and the tensor. Files of other families are read with the usual values
// of what they do not tell. The network is on the CPU, in float32.
Checkpoint read_checkpoint(const std::string& path);
Checkpoint checkpoint_from(const Safetensors& file, const std::string& name);

// Reads a network of any format and family: a file, a folder of diffusers, or a spec that states
// what a file does not tell (eps/model/foreign/families.h). The text is for messages, too.
Checkpoint load_network(const std::string& text);

// Returns copies of a checkpoint's tensors and its metadata, for files that hold more than a
// checkpoint.
Safetensors to_safetensors(const Checkpoint& checkpoint);
Tensor host_copy(const Tensor& tensor);  // contiguous, on the CPU, never the tensor itself

// Returns the file with floating tensors in this type, for smaller files. Tensors that are no
// weights keep their type, since rounding them would make another network: `prior_spectrum`,
// iDDPM's noise levels `u` and the frequencies that embed the noise level (`map_noise.freqs`). A
// number that the type cannot hold is an Error that names its tensor.
Safetensors stored_as(Safetensors file, at::ScalarType dtype);

// Writes the numbers in the types of the network's tensors; replaces the file in one step.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

}  // namespace eps
