// The storages of a torch file: flat arrays of one element type, of which tensors are views.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "eps/base/core.h"
#include "eps/io/torch/pickle.h"

namespace eps {

// Returns torch.float32 for "float32". Throws an Error with `label` for an unsupported type.
at::ScalarType dtype_of_name(std::string_view name, const std::string& label);

// Returns "float32" for torch.float32, for the types of dtype_of_name().
std::string_view dtype_name(at::ScalarType dtype);

// A `StorageId` holds a storage's persistent id: ('storage', class, key, device, elements[, view]).
struct StorageId {
  at::ScalarType dtype = at::kByte;
  std::string key;
  int64_t elements = 0;
  int64_t view_offset = 0;     // old files name parts of a storage as separate storages
  int64_t view_elements = -1;  // -1: not a part
};

// Reads a persistent id. Throws an Error with `label` for an id of another object or of an
// unsupported type.
StorageId parse_storage_id(const PicklePersistent& persistent, const std::string& label);
bool is_storage_id(const PicklePersistent& persistent);

// A `TorchStorages` copies each storage of one file once, whatever the number of its views.
class TorchStorages {
 public:
  // Adds the raw little-endian bytes of a key; `bytes` must outlive this object.
  void add(const std::string& key, std::string_view bytes) { raw_[key] = bytes; }

  // Returns the storage that `value` refers to, by persistent id or as a stream inside the pickle,
  // as a one-dimensional tensor. A given `dtype` reinterprets the bytes. `label` is for messages.
  Tensor load(PickleRef value, std::optional<at::ScalarType> dtype, const std::string& label);

 private:
  Tensor load_by_id(const StorageId& id,
                    std::optional<at::ScalarType> dtype,
                    const std::string& label);
  Tensor load_stream(PickleRef bytes,
                     std::optional<at::ScalarType> dtype,
                     const std::string& label);

  std::map<std::string, std::string_view> raw_;
  std::map<std::pair<std::string, at::ScalarType>, Tensor> by_key_;
  std::map<std::pair<const char*, at::ScalarType>, Tensor> by_stream_;
};

// A `LegacyStream` is a stream of torch.save before its zip format: pickles of a magic number, a
// protocol number, the machine's properties, the object and the keys of its storages, then the
// storages.
struct LegacyStream {
  Pickle object;
  TorchStorages storages;
};

bool is_legacy_magic(PickleRef value);
LegacyStream parse_legacy_stream(std::string_view bytes, const std::string& name);

}  // namespace eps
