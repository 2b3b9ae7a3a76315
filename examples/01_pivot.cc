// The pivot of Theorem 1, the input of a denoiser, for a blurred and noisy image.
#include <cstdio>

#include "eps/diffusion/pivot.h"
#include "eps/operators/task.h"

int main() {
  using namespace eps;
  Rng rng(0);
  const Tensor x0 = rng.uniform({1, 3, 64, 64}) * 2 - 1;  // any image in [-1, 1]
  const Operator A = make_operator("blur_motion:length=15,angle=30", x0, rng);
  const Problem problem = observe(A, x0, scalar(0.05), rng);  // y = A x0 + 0.05 n

  for (const double sigma : {0.01, 1.0, 80.0}) {
    const Tensor x_t = x0 + sigma * rng.normal({1, 3, 64, 64});
    const Tensor mu_star = pivot(problem, x_t, edm().at(scalar(sigma)));
    const Tensor residual = A->apply(mu_star) - problem.y;
    std::printf(
        "sigma %5.2f: |x_t - x0| = %6.2f, |mu_star - x0| = %6.2f, |A mu_star - y| = %5.2f per "
        "pixel (rms)\n",
        sigma,
        (x_t - x0).square().mean().sqrt().item<double>(),
        (mu_star - x0).square().mean().sqrt().item<double>(),
        residual.square().mean().sqrt().item<double>());
  }
}
