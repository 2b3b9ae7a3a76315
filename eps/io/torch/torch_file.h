// A reader of PyTorch checkpoints that needs no Python and executes nothing.
//
// The content decides the format, whatever the name of the file:
//   edm-snapshot  NVIDIA's network-snapshot-*.pkl: a pickle of modules with their storages inside
//   torch-zip     torch.save since 1.6: .pt, .pth, .ckpt; state dicts, modules, training states
//   torchscript   an archive of torch.jit: the tensors of its module, without its code
//   torch-legacy  torch.save before 1.6
//   pickle        any other pickle that holds torch tensors
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "eps/base/core.h"

namespace eps {

struct TorchFile {
  // `tensors` holds the tensors by full name. For a snapshot or another pickle with a module under
  // `ema`, `net` or `model`: the names inside the first of these ("model.enc.64x64_conv.weight").
  // For any other file: the names from the top, keys and indices joined by '.'
  // ("state_dict.conv.weight").
  std::map<std::string, Tensor> tensors;
  // `config` is a JSON object. For a module: class_name, model_type, the arguments of its
  // constructor and its plain attributes, in one level. For a state dict: the plain data beside the
  // tensors ("epoch").
  std::string config;
  std::string kind;
};

// Reads the bytes of a file; `name` is for messages. The result does not refer to `bytes`.
TorchFile parse_torch_file(std::string_view bytes, const std::string& name);

}  // namespace eps
