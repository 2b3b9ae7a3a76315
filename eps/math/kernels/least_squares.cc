// Least squares with the first columns of a matrix, for every number of them.
#include "eps/math/kernels/least_squares.h"

#include <algorithm>
#include <cmath>

#include "eps/math/kernels/dispatch.h"

namespace eps::kernels {

// Sums run over rows in their order, several columns at a time, whatever the instruction set is.
EPS_FOR_EACH_CPU
void nested_least_squares(
    double* a, int64_t rows, int64_t columns, double* triangle, double* errors) {
  const int64_t width = columns + 1;
  for (int64_t j = 0; j < columns; ++j) {
    double square = 0;
    for (int64_t i = 0; i < rows; ++i) square += a[i * width + j] * a[i * width + j];
    const double norm = std::sqrt(square);
    double* const r = triangle + j * width;
    std::fill(r, r + width, 0.0);
    r[j] = norm;
    const double inverse = norm > 0 ? 1 / norm : 0;
    for (int64_t i = 0; i < rows; ++i) {
      double* const row = a + i * width;
      row[j] *= inverse;
      const double q = row[j];
      for (int64_t k = j + 1; k < width; ++k) r[k] += q * row[k];
    }
    double largest = 0;
    for (int64_t i = 0; i < rows; ++i) {
      double* const row = a + i * width;
      const double q = row[j];
      for (int64_t k = j + 1; k < width; ++k) row[k] -= q * r[k];
      largest = std::max(largest, std::abs(row[columns]));
    }
    errors[j] = largest;
  }
}

}  // namespace eps::kernels
