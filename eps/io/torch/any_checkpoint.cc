// Checkpoints in any supported format.
#include "eps/io/torch/any_checkpoint.h"

#include "eps/base/printable.h"
#include "eps/io/file.h"
#include "eps/io/torch/diffusers_folder.h"
#include "eps/io/torch/torch_file.h"

namespace eps {
namespace {

// Returns whether the bytes begin with 8 bytes of header length and the `{` of a JSON object.
bool is_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

// Returns whether the bytes begin as ONNX models do: with a small version number, then the name of
// their producer or the graph.
bool is_onnx(std::string_view bytes) {
  return bytes.size() > 3 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 64 &&
         (bytes[2] == 0x12 || bytes[2] == 0x3a || bytes[2] == 0x42);
}

}  // namespace

Safetensors read_any_checkpoint(const std::string& path) {
  if (is_diffusers_folder(path)) return read_diffusers_folder(path);
  const std::string bytes = read_file(path);
  check(!is_onnx(bytes),
        path,
        ": an ONNX model, which is not read; its weights as a state dict, or as .safetensors, are");
  if (is_safetensors(bytes)) {
    Safetensors checkpoint = parse_safetensors(bytes, path);
    checkpoint.metadata.emplace("source", "safetensors");
    return checkpoint;
  }
  TorchFile file = parse_torch_file(bytes, path);
  return {std::move(file.tensors), {{"config", file.config}, {"source", file.kind}}};
}

Safetensors read_any_checkpoints(const std::vector<std::string>& paths) {
  Safetensors merged;
  std::map<std::string, std::string> origins;  // file of each tensor
  for (const std::string& path : paths) {
    Safetensors file = read_any_checkpoint(path);
    for (auto& [name, tensor] : file.tensors) {
      const auto& [known, is_new] = origins.emplace(name, path);
      check(is_new, "tensor ", quote(name), " is both in ", known->second, " and in ", path);
      merged.tensors[name] = std::move(tensor);
    }
    merged.metadata.merge(file.metadata);
  }
  return merged;
}

}  // namespace eps
