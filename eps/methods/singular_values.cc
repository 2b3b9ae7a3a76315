// Filters of A'A make the step of DDRM and DDNM+.
#include "eps/methods/singular_values.h"

#include <cmath>

namespace eps {
namespace {

// Tells whether sigma_y/v <= s, so that the measurement is no noisier than a state at s.
Tensor is_informative(const Tensor& e, const Tensor& sigma_y, const Tensor& sigma) {
  return at::logical_and(e > 0, sigma * e.sqrt() >= per_sample(sigma_y, e));
}

}  // namespace

Tensor singular_value_step(const Oracle& oracle,
                           const Tensor& x,
                           const Tensor& D,
                           const Tensor& sigma,
                           const Tensor& next,
                           double eta,
                           double eta_b,
                           const Tensor& z) {
  const Tensor& sigma_y = oracle.sigma_y();
  const Tensor kept = std::sqrt(1 - eta * eta) * next;
  // lambda moves D towards y~.
  const auto lambda = [&](const Tensor& e) {
    const Tensor little = kept * e.sqrt() / per_sample(sigma_y, e);
    return at::where(is_informative(e, sigma_y, next), at::full_like(little, eta_b), little)
        .masked_fill(e == 0, 0);
  };
  const auto along_n = [&](const Tensor& e) { return kept * (e == 0).to(e.scalar_type()); };
  const auto fresh = [&](const Tensor& e) {
    const Tensor of_y = (eta_b * per_sample(sigma_y, e)).square() / e;
    const Tensor rest = (next.square() - of_y).clamp_min(0).sqrt();
    const Tensor all = eta * next + at::zeros_like(rest);
    return at::where(is_informative(e, sigma_y, next), rest, all);
  };
  const Spectral& spectral = spectral_of(oracle.A(), "singular values:");
  return D + spectral.filter(oracle.A().ridge(residual(oracle, D), scalar(0)), lambda) +
         spectral.filter((x - D) / sigma, along_n) + spectral.filter(z, fresh);
}

}  // namespace eps
