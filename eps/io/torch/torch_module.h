// Modules and state dicts inside a pickle: the names of their tensors, and their configuration.
#pragma once

#include <nlohmann/json.hpp>

#include "eps/io/torch/torch_storage.h"

namespace eps {

// Limits on what a walk collects, since a small pickle can share its way to a tree of any size.
constexpr size_t kMaxTorchSteps = size_t{1} << 22;
constexpr size_t kMaxTensorName = 1000;  // characters
// Tensors may hold this many times the bytes of the file: more than any honest sharing of weights.
constexpr uint64_t kMaxExpansion = 16;
constexpr uint64_t kAlwaysAllowedBytes = uint64_t{1} << 16;  // however small the file
constexpr uint64_t kLeastTensorBytes = 64;                   // what an empty tensor counts for

// Whether the value is an instance of one of NVIDIA's persistent classes (torch_utils.persistence).
bool is_persistent_object(PickleRef value);

// The attributes of an object, persistent or not, as a value for entries_of(); or null.
PickleRef object_attributes(PickleRef value);

// Whether such attributes are those of a torch module.
bool is_module(PickleRef attributes);

// All tensors reachable from `root` by names joined with '.': the parameters and buffers of modules
// as their state_dict() names them, and those in dicts, lists and attributes of other objects.
// `file_size` bounds what they may hold together; `file` is for messages.
std::map<std::string, Tensor> collect_tensors(PickleRef root,
                                              TorchStorages& storages,
                                              uint64_t file_size,
                                              const std::string& file);

// The configuration of a module: of its child `model` (or `unet`) and of itself, in one object,
// what it was constructed with and its plain attributes. class_name is the module's class and
// model_type, unless given, the child's. Values that JSON lacks (infinity, arrays) are left out.
nlohmann::json module_config(PickleRef module);

}  // namespace eps
