// Conjugate gradients solve a batch of symmetric positive semidefinite systems.
#include "eps/math/conjugate_gradients.h"

#include <cmath>

namespace eps {
namespace {

[[noreturn]] void fail_with_worst(const Tensor& rho,
                                  const Tensor& goal,
                                  const Tensor& active,
                                  int64_t iterations,
                                  const ConjugateGradientsOptions& options) {
  const Tensor over = at::where(active, (rho / goal).sqrt(), at::zeros_like(rho)).flatten();
  const int64_t worst = over.argmax().item<int64_t>();
  fail("conjugate gradients: |r|/|b| = ",
       over[worst].item<double>() * options.tolerance,
       " for sample ",
       worst,
       " after ",
       iterations,
       " iterations, wanted ",
       options.tolerance);
}

}  // namespace

Tensor batch_dot(const Tensor& a, const Tensor& b) {
  Shape per_sample(static_cast<size_t>(a.dim()), 1);
  per_sample[0] = a.size(0);
  return (a * b).flatten(1).sum(1).reshape(per_sample);
}

Tensor conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                           const Tensor& b,
                           const ConjugateGradientsOptions& options) {
  // float32 cannot reach the residuals that an operator with singular values near zero needs.
  Tensor r = b.to(at::kDouble);
  Tensor u = at::zeros_like(r);
  Tensor p = r;
  Tensor rho = batch_dot(r, r);
  const Tensor goal = rho * (options.tolerance * options.tolerance);
  const Tensor zero = at::zeros_like(rho), one = at::ones_like(rho);
  for (int64_t i = 0;; ++i) {
    const Tensor active = at::logical_not(rho <= goal);  // so that NaN is not done
    const double left =
        at::where(active, rho, zero).sum().item<double>();  // the only synchronisation
    if (left == 0) break;
    if (i == options.max_iterations || !std::isfinite(left))
      fail_with_worst(rho, goal, active, i, options);
    const Tensor q = apply(p);
    // A frozen system has p = 0 and takes no part: no 0/0 of its own reaches anything.
    const Tensor alpha = at::where(active, rho / at::where(active, batch_dot(p, q), one), zero);
    u = u + alpha * p;
    r = r - alpha * q;
    const Tensor next = at::where(active, batch_dot(r, r), rho);
    const Tensor growth = next / at::where(active, rho, one);
    p = at::where(next <= goal, at::zeros_like(p), r + growth * p);
    rho = next;
  }
  return u.to(b.scalar_type());
}

}  // namespace eps
