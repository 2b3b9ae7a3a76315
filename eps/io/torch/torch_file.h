// Reads the checkpoints that PyTorch users have, without Python and without running anything.
//
// Recognised by content, whatever the name of the file:
//   edm-snapshot  NVIDIA's network-snapshot-*.pkl: a pickle of modules with their storages inside
//   torch-zip     torch.save since 1.6: .pt, .pth, .ckpt; state dicts, modules, training states
//   torch-legacy  torch.save before 1.6
//   pickle        any other pickle that holds torch tensors
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "eps/base/core.h"

namespace eps {

struct TorchFile {
  // By full name. Of a snapshot or another pickle with a module under `ema`, `net` or `model`: the
  // names inside the first of these ("model.enc.64x64_conv.weight"). Of all others: the names from
  // the top, keys and indices joined by '.' ("state_dict.conv.weight").
  std::map<std::string, Tensor> tensors;
  // A JSON object. Of a module: class_name, model_type, what it was constructed with and its plain
  // attributes, in one level. Of a state dict: the plain data beside the tensors ("epoch").
  std::string config;
  std::string kind;
};

TorchFile read_torch_file(const std::string& path);

// The same from memory; `name` is what messages call it. The result does not refer to `bytes`.
TorchFile parse_torch_file(std::string_view bytes, const std::string& name);

// The tensors whose names begin with `prefix`, without it: strip_prefix(t, "state_dict.") is the
// state dict itself. An error if there is none.
std::map<std::string, Tensor> strip_prefix(const std::map<std::string, Tensor>& tensors,
                                           const std::string& prefix);

}  // namespace eps
