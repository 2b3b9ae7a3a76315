// Arrays in files: the extension chooses the format.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns whether the name has the form of one of the paths below.
bool is_array_path(const std::string& path);

// Reads x.npy; x.safetensors, which must hold one tensor only; or x.safetensors#name, one tensor of
// several.
Tensor read_array(const std::string& path);

// Writes to the same paths. A .safetensors file is replaced as a whole; its tensor is `name`, or
// "array".
void write_array(const std::string& path, const Tensor& tensor);

// Throws an Error, with their number and the index of the first, when values are infinite or not a
// number.
void require_finite(const Tensor& tensor, const std::string& name);

}  // namespace eps
