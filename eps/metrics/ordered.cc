// Batcher's odd-even merge sort (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M).
#include "eps/metrics/ordered.h"

#include <bit>

namespace eps {
namespace {

constexpr int64_t kColumns = 4096;  // at once, so that the rows stay in the cache

using Comparator = std::pair<int64_t, int64_t>;

// Returns the pairs of rows to put in order, one after the other.
std::vector<Comparator> comparators(int64_t rows) {
  std::vector<Comparator> all;
  const auto most = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows))) / 2;
  for (int64_t p = most; p > 0; p /= 2) {
    int64_t q = most, r = 0;
    for (int64_t d = p; d > 0; d = q - p, q /= 2, r = p)
      for (int64_t i = 0; i + d < rows; ++i)
        if ((i & p) == r) all.emplace_back(i, i + d);
  }
  return all;
}

}  // namespace

Tensor in_order(const Tensor& samples) {
  const std::vector<Comparator> pairs = comparators(samples.size(0));
  const Tensor sorted = samples.contiguous().clone(), columns = sorted.flatten(1);
  for (int64_t begin = 0; begin < columns.size(1); begin += kColumns) {
    const std::vector<Tensor> rows = columns.slice(1, begin, begin + kColumns).unbind(0);
    const Tensor least = at::empty_like(rows[0]);
    for (const auto& [i, j] : pairs) {
      Tensor low = least, high = rows[static_cast<size_t>(j)];
      at::minimum_out(low, rows[static_cast<size_t>(i)], high);
      at::maximum_out(high, rows[static_cast<size_t>(i)], high);
      rows[static_cast<size_t>(i)].copy_(least);
    }
  }
  return sorted;
}

}  // namespace eps
