// Folders of diffusers: a `config.json` and the weights of one network, and the scheduler's
// configuration beside or above it.
//
//   FOLDER/config.json, diffusion_pytorch_model.safetensors (or .bin), scheduler_config.json
//   FOLDER/model_index.json, unet/config.json, unet/diffusion_..., scheduler/scheduler_config.json
#pragma once

#include "eps/io/safetensors.h"

namespace eps {

// Metadata under which the texts of the two configurations stand.
inline const std::string kDiffusersConfig = "diffusers_config";
inline const std::string kDiffusersScheduler = "diffusers_scheduler";

// Returns whether the folder, or `unet` in it, has a config.json.
bool is_diffusers_folder(const std::string& path);

// Reads the tensors and the texts; weights in several files are refused. Nothing is run.
Safetensors read_diffusers_folder(const std::string& path);

}  // namespace eps
