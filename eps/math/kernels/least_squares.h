// Least squares with the first columns of a matrix, for every number of them.
#pragma once

#include <cstdint>

namespace eps::kernels {

// Orthogonalises the columns of a matrix, a goal beside them, by Gram and Schmidt's modified rule,
// which is backward stable for least squares.
//
// a:        (rows, columns + 1), row by row, the goal last; becomes orthonormal columns and what is
//           left of the goal
// triangle: (columns, columns + 1): R, and Q' goal last, so that the least squares with the first
//           k columns solve the first k rows and columns
// errors:   (columns): the largest entry that is left of the goal after k + 1 columns
void nested_least_squares(
    double* a, int64_t rows, int64_t columns, double* triangle, double* errors);

}  // namespace eps::kernels
