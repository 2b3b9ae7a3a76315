// Conjugate gradients for a batch of symmetric positive semidefinite systems.
#include "eps/conjugate_gradients.h"

namespace eps {

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
  for (int64_t i = 0;; ++i) {
    const Tensor active = rho > goal;
    if (!active.any().item<bool>()) break;
    if (i == options.max_iterations || !rho.isfinite().all().item<bool>()) {
      const Tensor residual = (rho / goal).sqrt().flatten() * options.tolerance;
      const int64_t worst = residual.argmax().item<int64_t>();
      fail("conjugate gradients: |r|/|b| = ",
           residual[worst].item<double>(),
           " for sample ",
           worst,
           " after ",
           i,
           " iterations, wanted ",
           options.tolerance);
    }
    const Tensor q = apply(p);
    // A frozen system has p = 0 and takes no part: no 0/0 of its own reaches anything.
    const Tensor zero = at::zeros_like(rho), one = at::ones_like(rho);
    const Tensor alpha = at::where(active, rho / at::where(active, batch_dot(p, q), one), zero);
    u = u + alpha * p;
    r = r - alpha * q;
    const Tensor next = at::where(active, batch_dot(r, r), rho);
    const Tensor growth = next / at::where(active, rho, one);
    p = at::where(next > goal, r + growth * p, at::zeros_like(p));
    rho = next;
  }
  return u.to(b.scalar_type());
}

}  // namespace eps
