// Arrays in files of any kind: the extension chooses the format.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Does the name end as one of the paths below?
bool is_array_path(const std::string& path);

// x.npy; x.safetensors, which must hold one tensor only; x.safetensors#name for one of several.
Tensor read_array(const std::string& path);

// The same paths. A .safetensors file is replaced as a whole; its tensor is `name`, or "array".
void write_array(const std::string& path, const Tensor& tensor);

// Error, with their number and the place of the first, when values are infinite or not a number.
void require_finite(const Tensor& tensor, const std::string& name);

}  // namespace eps
