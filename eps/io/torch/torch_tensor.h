// Tensors as torch writes them into pickles: records of calls that would rebuild them.
#pragma once

#include "eps/base/core.h"
#include "eps/io/torch/pickle.h"
#include "eps/io/torch/torch_storage.h"

namespace eps {

// Returns whether the value is the record of a tensor or parameter of any kind.
bool is_tensor_record(PickleRef value);

// Returns the tensor, a view of its storage; `label` is for messages. Sparse, quantised and other
// tensors that are not plain arrays are errors.
Tensor rebuild_tensor(PickleRef value, TorchStorages& storages, const std::string& label);

}  // namespace eps
