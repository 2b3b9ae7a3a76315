// Operators whose verbs take part in derivatives.
//
// The library's kernels compute; they record nothing for autograd. Here each verb has the
// derivative that mathematics gives it, itself made of verbs, so that derivatives of derivatives
// exist, too:
//
//   A x                 A' g
//   f(A'A) x            f(A'A) g
//   mu = proximal(z, y, lambda) = (A'A + lambda)^{-1} (A'y + lambda z), with u = (A'A +
//   lambda)^{-1} g:
//                       lambda u for z, A u for y, <u, z - mu> for lambda
#pragma once

#include "eps/operators/operator.h"

namespace eps::python {

// Returns the operator with differentiable verbs and spectral functions. Without gradients they are
// those of the operator itself. The picture of a measurement has no derivative.
Operator differentiable(const Operator& A);

}  // namespace eps::python
