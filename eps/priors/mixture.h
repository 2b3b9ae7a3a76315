// Gaussian mixtures with dense covariances have every expectation that EPS needs in closed form.
#pragma once

#include "eps/base/random.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// A `Mixture` is the law sum_k weight_k N(mean_k, covariance_k) of images of the shape (C, H, W).
// One component makes a Gaussian.
class Mixture final : public Denoiser {
 public:
  // weights: (K); means: (K, C, H, W); covariances: (K, d, d), positive definite. float64.
  Mixture(Tensor weights, Tensor means, Tensor covariances);

  // Returns E[x0 | query] under any Sigma_star:
  //   sum_k r_k (m_k + C_k (C_k + Sigma)^{-1} (x - m_k)), r_k ~ w_k N(x; m_k, C_k + Sigma)
  Tensor mean(const Query& query) const override;

  // Returns p(x0 | y), again a mixture, from the joint law of (x0, y) with A as a dense matrix:
  // independent of ridge, filter and pivot. y is one measurement, of batch 1.
  Mixture posterior(const Problem& problem) const;

  // Returns log p(x) of each image, (N).
  Tensor log_density(const Tensor& x) const;
  // Returns log p(x_t) of each image when x_t = alpha x0 + beta eps.
  Tensor log_density_at(const Tensor& x_t, const Coefficients& c) const;

  const Tensor& weights() const { return weights_; }          // (K)
  const Tensor& means() const { return means_; }              // (K, d)
  const Tensor& covariances() const { return covariances_; }  // (K, d, d)
  Tensor mean() const;                                        // (C, H, W)
  Tensor covariance() const;                                  // (d, d), of the whole mixture
  Tensor sample(Rng& rng, int64_t count) const;

 private:
  Tensor image(const Tensor& flat) const;

  Tensor weights_, means_, covariances_;  // (K), (K, d), (K, d, d)
  Shape shape_;                           // C, H, W
};

// Returns a mixture with smooth, well separated components, for tests and `eps verify`.
Mixture example_mixture(const Shape& image, int64_t components, uint64_t seed);

}  // namespace eps
