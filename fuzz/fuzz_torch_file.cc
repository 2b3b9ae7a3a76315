// Hostile torch checkpoints of every format.
#include "eps/io/torch/torch_file.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(torch_file) {
  const TorchFile file = parse_torch_file(bytes, "torch_file");
  // Reading every element shows a view that leaves its storage.
  for (const auto& [name, tensor] : file.tensors) tensor.contiguous().clone();
}
