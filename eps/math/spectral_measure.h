// The distribution of a vector over the eigenvalues of a symmetric matrix.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `SpectralMeasure` has the nodes and weights of Gauss quadrature: b'f(M) b is about the sum of
// weights f(nodes), for every smooth f. Nodes are >= 0, weights add up to |b|^2. Both (N, steps),
// float64 on the CPU.
struct SpectralMeasure {
  Tensor nodes, weights;
};

// Returns the measure of each sample (row) of b by the Lanczos process (Lanczos 1950; Golub &
// Welsch 1969) with full reorthogonalisation, in float64. `product` maps a batch u to the batch M
// u, M symmetric and positive semidefinite.
SpectralMeasure spectral_measure(const std::function<Tensor(const Tensor&)>& product,
                                 const Tensor& b,
                                 int64_t steps);

}  // namespace eps
