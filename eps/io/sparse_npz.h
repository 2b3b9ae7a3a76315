// SciPy's sparse matrices in .npz files, as scipy.sparse.save_npz writes them.
//
// Read: the formats csr, csc and coo; compressed or stored; indices of any integer type; values of
// any real type that .npy files hold. An .npz file is a ZIP archive of .npy files.
#pragma once

#include "eps/base/core.h"

namespace eps {

// The `SparseEntries` list a matrix entry by entry, on the CPU, in any order. Entries of one place
// add up.
struct SparseEntries {
  int64_t rows = 0, columns = 0;
  Tensor row = {}, column = {};  // int64, (entries), inside the matrix
  Tensor value = {};             // float64, finite
};

SparseEntries read_sparse_npz(const std::string& path);

// Returns the matrix in the bytes of a file; `name` is for messages.
SparseEntries parse_sparse_npz(std::string_view bytes, const std::string& name);

}  // namespace eps
