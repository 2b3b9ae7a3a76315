// Sparse matrices in compressed rows.
#include "eps/math/sparse_matrix.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace eps {
namespace {

// Computes out = M v on the CPU, for v (columns, width) and out (rows, width), both contiguous.
template <class Real>
void multiply(const Tensor& begin,
              const Tensor& column,
              const Tensor& value,
              const Tensor& v,
              const Tensor& out) {
  const int64_t width = v.size(1);
  const auto* begins = begin.data_ptr<int64_t>();
  const auto* columns = column.data_ptr<int64_t>();
  const auto* values = value.data_ptr<Real>();
  const auto* in = v.data_ptr<Real>();
  auto* sums = out.data_ptr<Real>();
  at::parallel_for(0, out.size(0), 64, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      Real* sum = sums + row * width;
      std::fill(sum, sum + width, Real(0));
      for (int64_t entry = begins[row]; entry < begins[row + 1]; ++entry) {
        const Real* factor = in + columns[entry] * width;
        for (int64_t i = 0; i < width; ++i) sum[i] += values[entry] * factor[i];
      }
    }
  });
}

}  // namespace

SparseMatrix::SparseMatrix(
    int64_t rows, int64_t columns, const Tensor& row, const Tensor& column, const Tensor& value)
    : rows_(rows), columns_(columns) {
  const Tensor place = row * columns + column;
  const Tensor order = at::argsort(place, /*stable=*/true, 0, false);
  const auto [places, number, counts] =
      at::unique_consecutive(place.index_select(0, order), /*return_inverse=*/true);
  value_ = at::zeros({places.size(0)}, value.options())
               .index_add(0, number, value.index_select(0, order));
  column_ = places.remainder(columns);
  const Tensor row_of_place = at::div(places, columns, "floor");
  begin_ = at::searchsorted(row_of_place, at::arange(rows + 1, places.options()));
}

SparseMatrix SparseMatrix::transposed() const {
  const Tensor row = at::repeat_interleave(begin_.diff());
  return {columns_, rows_, column_, row, value_};
}

SparseMatrix SparseMatrix::absolute() const {
  SparseMatrix result = *this;
  result.value_ = value_.abs();
  return result;
}

SparseMatrix SparseMatrix::squared() const {
  SparseMatrix result = *this;
  result.value_ = value_.square();
  return result;
}

SparseMatrix SparseMatrix::scaled(double factor) const {
  SparseMatrix result = *this;
  result.value_ = value_ * factor;
  return result;
}

SparseMatrix SparseMatrix::to(at::Device device) const {
  SparseMatrix result = *this;
  result.begin_ = begin_.to(device);
  result.column_ = column_.to(device);
  result.value_ = value_.to(device);
  return result;
}

Tensor SparseMatrix::times(const Tensor& batch) const {
  check(batch.dim() == 2 && batch.size(1) == columns_,
        "a sparse matrix of ",
        columns_,
        " columns cannot multiply ",
        to_string(batch.sizes()));
  if (batch.device() != value_.device()) return to(batch.device()).times(batch);
  // Half precision would lose the sums.
  const auto options =
      batch.options().dtype(batch.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  const Tensor v = batch.t().to(options).contiguous(), value = value_.to(options);
  Tensor out;
  if (!batch.is_cpu()) {
    const Tensor products = v.index_select(0, column_) * value.unsqueeze(1);
    out = at::segment_reduce(
        products, "sum", begin_.diff(), {}, {}, 0, /*unsafe=*/true, at::Scalar(0));
  } else {
    out = at::empty({rows_, batch.size(0)}, options);
    if (options.dtype() == at::kDouble)
      multiply<double>(begin_, column_, value, v, out);
    else
      multiply<float>(begin_, column_, value, v, out);
  }
  return out.t().to(batch.scalar_type());
}

}  // namespace eps
