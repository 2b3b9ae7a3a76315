// A stationary Gaussian prior, given by its power spectrum: exact at image size.
#pragma once

#include "eps/base/random.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// x0 = mean + noise whose orthonormal Fourier coefficients are independent with variance
// spectrum(k); channels are independent. Covariance C = F^H diag(spectrum) F.
class Stationary final : public Denoiser {
 public:
  // mean: (1 or C, H, W). spectrum: (1 or C, H, W/2 + 1), > 0, in the layout of rfft2.
  Stationary(Tensor mean, Tensor spectrum);

  // m + C (C + Sigma)^{-1} (x - m): a filter where Sigma_star is diagonal in the Fourier basis too
  // (blur, MRI, no operator), conjugate gradients elsewhere.
  Tensor mean(const Query& query) const override;

  // For operators that are diagonal in the Fourier basis: p(x0 | y) = N(mean, spectrum).
  struct Posterior {
    Tensor mean;      // (N, C, H, W)
    Tensor spectrum;  // (N or 1, C or 1, H, W/2 + 1)
  };
  Posterior posterior(const Problem& problem) const;

  Tensor sample(Rng& rng, const Shape& shape) const;

 private:
  Tensor mean_, spectrum_;  // (1, C or 1, H, W), (1, C or 1, H, W/2 + 1)
};

// Power falls with frequency as in photographs, 1 / (1 + (|k| / k0)^2)^(3/2), total variance 0.25
// per pixel: a prior for 64 x 64 images and any other size.
Tensor natural_spectrum(int64_t height, int64_t width);

}  // namespace eps
