// .safetensors files: named tensors behind a JSON header, and nothing that can run.
//
// Read and written: F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL. A file is read only when it is whole:
// the tensors must cover its data without a gap or an overlap, under names used once.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

Safetensors read_safetensors(const std::string& path);

// The header lists the tensors by name, padded with spaces so that the data begin at a multiple of
// 8 bytes; the data lie in the order of falling item size, then name, so that each is aligned.
void write_safetensors(const std::string& path, const Safetensors& file);

// The tensors in the bytes of a file; `name` is for messages. No memory is taken for a tensor
// before its size has been compared with the bytes that are there.
Safetensors parse_safetensors(std::string_view bytes, const std::string& name);

}  // namespace eps
