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

Tensor quotient_or_zero(const Tensor& a, const Tensor& b) {
  const Tensor none = b == 0;
  return at::logical_not(none) * a / at::where(none, at::ones_like(b), b);
}

Tensor batch_dot(const Tensor& a, const Tensor& b) {
  Shape per_sample(static_cast<size_t>(a.dim()), 1);
  per_sample[0] = a.size(0);
  // Sums of pieces have many results, each of which one thread computes, and the sum of these is
  // too short to be shared out: no result depends on the number of threads.
  constexpr int64_t kPiece = 64;
  const Tensor products = (a * b).flatten(1);
  const int64_t whole = products.size(1) / kPiece * kPiece;
  const Tensor pieces = products.slice(1, 0, whole).reshape({products.size(0), -1, kPiece}).sum(2);
  return (pieces.sum(1) + products.slice(1, whole).sum(1)).reshape(per_sample);
}

Solution solve_conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                                   const Tensor& b,
                                   const ConjugateGradientsOptions& options) {
  // float32 cannot reach the residuals that an operator with singular values near zero needs.
  const Tensor right = b.to(at::kDouble);
  Tensor u = options.start.defined() ? options.start.to(at::kDouble) : at::zeros_like(right);
  Tensor r = options.start.defined() ? right - apply(u) : right;
  const auto preconditioned = [&](const Tensor& v) {
    return options.precondition ? options.precondition(v) : v;
  };
  Tensor p = preconditioned(r);
  Tensor rho = batch_dot(r, p);
  const Tensor goal =
      batch_dot(right, preconditioned(right)) * (options.tolerance * options.tolerance);
  const Tensor zero = at::zeros_like(rho), one = at::ones_like(rho);
  const bool bounded = options.smallest.defined() && !options.precondition;
  const Tensor smallest = bounded ? options.smallest.to(rho.options()) : one;
  const Tensor energy = options.energy.defined() ? options.energy.to(rho.options()) : -one;
  Tensor factor = smallest.reciprocal().expand_as(rho);  // g; 1 with a preconditioner
  for (int64_t i = 0;; ++i) {
    // The signs of comparison are such that NaN is not done.
    const Tensor done = at::logical_or(rho <= goal, factor * rho <= energy);
    const Tensor active = at::logical_not(done);
    const double left =
        at::where(active, rho, zero).sum().item<double>();  // the only synchronisation
    const bool known = bounded || options.precondition;
    if (left == 0) return {u, i, known ? at::where(rho == 0, zero, factor * rho) : Tensor()};
    if (i == options.max_iterations || !std::isfinite(left))
      fail_with_worst(rho, goal, active, i, options);
    // A finished system takes no part: no 0/0 of its own reaches anything.
    const Tensor q = apply(at::where(active, p, zero));
    const Tensor alpha = at::where(active, rho / at::where(active, batch_dot(p, q), one), zero);
    u = u + alpha * p;
    r = r - alpha * q;
    const Tensor z = preconditioned(r);
    const Tensor next = at::where(active, batch_dot(r, z), rho);
    const Tensor growth = next / at::where(active, rho, one);
    p = at::where(active, z + growth * p, p);
    if (bounded) {
      const Tensor above = (factor - alpha).clamp_min(0);
      factor = at::where(active, above / (smallest * above + growth), factor);
    }
    rho = next;
  }
}

Tensor conjugate_gradients(const std::function<Tensor(const Tensor&)>& apply,
                           const Tensor& b,
                           const ConjugateGradientsOptions& options) {
  return solve_conjugate_gradients(apply, b, options).u.to(b.scalar_type());
}

}  // namespace eps
