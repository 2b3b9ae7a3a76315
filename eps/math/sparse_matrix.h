// Sparse matrices in compressed rows.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `SparseMatrix` multiplies batches of vectors. Each row is summed by one thread in the order of
// its columns, so that no result depends on the number of threads.
class SparseMatrix {
 public:
  // Takes entries (int64, int64, float64) in any order; entries of one place add up.
  SparseMatrix(
      int64_t rows, int64_t columns, const Tensor& row, const Tensor& column, const Tensor& value);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  // Returns M v for each row v of a batch: (B, columns) to (B, rows), in the dtype and on the
  // device of the batch.
  Tensor times(const Tensor& batch) const;

  SparseMatrix transposed() const;
  SparseMatrix absolute() const;  // the matrix of absolute values
  SparseMatrix squared() const;   // the matrix of squares
  SparseMatrix scaled(double factor) const;
  SparseMatrix to(at::Device device) const;

 private:
  int64_t rows_ = 0, columns_ = 0;
  Tensor begin_;           // (rows + 1): the first entry of each row
  Tensor column_, value_;  // (entries), by rows and in a row by columns
};

}  // namespace eps
