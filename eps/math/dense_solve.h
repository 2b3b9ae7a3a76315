// Solutions of systems with dense matrices.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns A^{-1} b of a batch of matrices, (N, k, k) and (N, k, m). A CPU takes them one by one:
// PyTorch 2.11's MKL solves batches of large ones wrongly on two threads.
inline Tensor dense_solve(const Tensor& A, const Tensor& b) {
  if (!A.is_cpu()) return at::linalg_solve(A, b);
  std::vector<Tensor> all;
  for (int64_t i = 0; i < A.size(0); ++i) all.push_back(at::linalg_solve(A[i], b[i]));
  return at::stack(all);
}

}  // namespace eps
