// A stationary Gaussian prior, given by its power spectrum, has exact answers at image size.
#pragma once

#include "eps/base/random.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// A `Stationary` x0 is the mean plus noise whose orthonormal Fourier coefficients are independent
// with variance spectrum(k); channels are independent. Covariance C = F^H diag(spectrum) F.
class Stationary final : public Denoiser {
 public:
  // mean: (1 or C, H, W). spectrum: (1 or C, H, W/2 + 1), > 0, in the layout of rfft2.
  Stationary(Tensor mean, Tensor spectrum);

  // Returns m + C (C + Sigma)^{-1} (x - m), by a filter where Sigma_star is diagonal in the Fourier
  // basis too (blur, MRI, no operator), by conjugate gradients elsewhere.
  Tensor mean(const Query& query) const override;

  // The posterior is N(mean, spectrum) for operators that are diagonal in the Fourier basis.
  struct Posterior {
    Tensor mean;      // (N, C, H, W)
    Tensor spectrum;  // (N or 1, C or 1, H, W/2 + 1)
  };
  Posterior posterior(const Problem& problem) const;

  Tensor sample(Rng& rng, const Shape& shape) const;

 private:
  Tensor mean_, spectrum_;  // (1, C or 1, H, W), (1, C or 1, H, W/2 + 1)
};

// Returns a spectrum for images of any size. Power falls with frequency as in photographs,
// 1 / (1 + (|k| / k0)^2)^(3/2), with a total variance of 0.25 per pixel.
Tensor natural_spectrum(int64_t height, int64_t width);

}  // namespace eps
