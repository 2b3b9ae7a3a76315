// Tensors as torch writes them into pickles: records of calls that would rebuild them.
#pragma once

#include "eps/base/core.h"
#include "eps/io/torch/pickle.h"
#include "eps/io/torch/torch_storage.h"

namespace eps {

// Whether the value would become a tensor or parameter, of whatever kind.
bool is_tensor_record(PickleRef value);

// The tensor, a view of its storage; `label` names it in messages. Sparse, quantised and other
// tensors that are not plain arrays are errors.
Tensor rebuild_tensor(PickleRef value, TorchStorages& storages, const std::string& label);

}  // namespace eps
