// Modules and state dicts inside a pickle: the names of their tensors, and their configuration.
#pragma once

#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/io/torch/torch_storage.h"

namespace eps {

// These constants limit a traversal, since a small pickle can expand, by sharing, to a tree of any
// size.
constexpr size_t kMaxTorchSteps = size_t{1} << 22;
constexpr size_t kMaxTensorName = 1000;  // characters
// Tensors may hold this many times the bytes of the file: more than any real sharing of weights.
constexpr uint64_t kMaxExpansion = 16;
constexpr uint64_t kAlwaysAllowedBytes = uint64_t{1} << 16;  // allowed however small the file
constexpr uint64_t kLeastTensorBytes = 64;                   // bytes counted for an empty tensor

// Returns whether the value is an instance of one of NVIDIA's persistent classes
// (torch_utils.persistence).
bool is_persistent_object(PickleRef value);

// Returns the attributes of an object, persistent or not, as a value for entries_of(); or null.
PickleRef object_attributes(PickleRef value);

// Returns whether these are the attributes of a torch module.
bool is_module(PickleRef attributes);

// Returns all tensors reachable from `root` by names joined with '.': the parameters and buffers of
// modules as their state_dict() names them, and the tensors in dicts, lists and attributes of other
// objects. `file_size` bounds the sum of their bytes; `file` is for messages.
std::map<std::string, Tensor> collect_tensors(PickleRef root,
                                              TorchStorages& storages,
                                              uint64_t file_size,
                                              const std::string& file);

// Returns the configuration of a module in one object: the constructor arguments of its child
// `model` (or `unet`), and the constructor arguments and plain attributes of the module itself.
// class_name is the module's class and model_type, unless given, the child's. Values without a JSON
// form (infinity, arrays) are left out.
SortedJson module_config(PickleRef module);

}  // namespace eps
