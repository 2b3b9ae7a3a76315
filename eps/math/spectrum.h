// A map that is diagonal in the Fourier basis has one multiplier per frequency of a real image.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns F^{-1} (multiplier F x) for real x, with the multiplier in the layout of rfft2,
// (..., H, W/2 + 1).
inline Tensor filter_spectrum(const Tensor& x, const Tensor& multiplier) {
  const Shape size{x.size(-2), x.size(-1)};
  return at::fft_irfft2(at::fft_rfft2(x) * multiplier, at::IntArrayRef(size));
}

// Returns the diagonal of filter_spectrum(), the same at every pixel: the mean of the multiplier
// over all frequencies of an image of this width, (..., 1, 1).
inline Tensor spectral_mean(const Tensor& multiplier, int64_t width) {
  // rfft2 leaves out the mirror images of the columns 1 ... (width - 1) / 2.
  const Tensor sums = multiplier.sum({-2}, /*keepdim=*/true);
  const Tensor all = sums.sum({-1}, true) + sums.slice(-1, 1, (width + 1) / 2).sum({-1}, true);
  return all / static_cast<double>(multiplier.size(-2) * width);
}

// Returns a power spectrum in the layout of rfft2 at the frequencies of images of another size, by
// linear interpolation of its logarithm between the nearest frequencies. Powers of an orthonormal
// transform depend on the frequency alone, but for that of the mean.
Tensor resampled_spectrum(const Tensor& spectrum, int64_t height, int64_t width);

// Returns an image that is 0 but for a 1 at (0, 0), (1, 1, H, W).
inline Tensor unit_impulse(int64_t height, int64_t width, const at::TensorOptions& options) {
  Tensor impulse = at::zeros({1, 1, height, width}, options);
  impulse.select(3, 0).select(2, 0).fill_(1);
  return impulse;
}

}  // namespace eps
