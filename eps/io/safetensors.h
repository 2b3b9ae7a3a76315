// Files in the .safetensors format: named tensors behind a JSON header, and no executable content.
//
// Read and written: F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL. Only complete files are read: the
// tensors must cover the data without a gap or an overlap, under unique names.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

Safetensors read_safetensors(const std::string& path);

// Writes the file. The header lists the tensors by name, padded with spaces so that the data begin
// at a multiple of 8 bytes; the data follow in the order of falling item size, then name, so that
// each tensor is aligned.
void write_safetensors(const std::string& path, const Safetensors& file);

// Returns the tensors in the bytes of a file; `name` is for messages. The size of a tensor is
// compared with the bytes before any memory is allocated.
Safetensors parse_safetensors(std::string_view bytes, const std::string& name);

}  // namespace eps
