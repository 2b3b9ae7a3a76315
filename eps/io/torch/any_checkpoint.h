// A checkpoint in any format users have, recognised by its content.
#pragma once

#include "eps/io/safetensors.h"

namespace eps {

// .safetensors as it is; EDM's .pkl and torch's .pt and .pth as tensors, with what the file says of
// them in the metadata: `config` (JSON) and `source` (the format).
Safetensors read_any_checkpoint(const std::string& path);

// The tensors of several files in one. A name in two files is an Error that names all three; of
// metadata under one key, those of the first file stay.
Safetensors read_any_checkpoints(const std::vector<std::string>& paths);

}  // namespace eps
