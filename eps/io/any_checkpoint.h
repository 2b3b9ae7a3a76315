// A checkpoint in any format users have, recognised by its content.
#pragma once

#include "eps/io/safetensors.h"

namespace eps {

// .safetensors as it is; EDM's .pkl and torch's .pt and .pth as tensors, with what the file says of
// them in the metadata: `config` (JSON) and `source` (the format).
Safetensors read_any_checkpoint(const std::string& path);

}  // namespace eps
