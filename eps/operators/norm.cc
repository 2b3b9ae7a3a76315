// The norm of an operator.
#include "eps/operators/norm.h"

#include "eps/math/conjugate_gradients.h"

namespace eps {

Tensor squared_norm(const LinearOperator& A, const Tensor& like) {
  constexpr int kIterations = 50;
  Shape one = like.sizes().vec();
  one[0] = 1;
  // The first guess has a part along the mean, which blurs keep, and along everything else.
  Tensor u = (1 + Rng(0).normal(one).to(like.options())).expand_as(like), norm;
  for (int i = 0; i < kIterations; ++i) {
    u = A.adjoint(A.apply(u / batch_dot(u, u).sqrt().clamp_min(1e-12)));
    norm = batch_dot(u, u).sqrt();
  }
  return norm;
}

}  // namespace eps
