// Checkpoints in any supported format, recognised by their content.
#pragma once

#include "eps/io/safetensors.h"

namespace eps {

// Reads .safetensors unchanged, and EDM's .pkl and torch's .pt and .pth as tensors, with the
// configuration of the file in the metadata: `config` (JSON) and `source` (the format). A folder of
// diffusers is read by read_diffusers_folder().
Safetensors read_any_checkpoint(const std::string& path);

// Reads the tensors of several files into one table. A name in two files is an Error that names the
// tensor and both files; of metadata under the same key, the value of the first file is kept.
Safetensors read_any_checkpoints(const std::vector<std::string>& paths);

}  // namespace eps
