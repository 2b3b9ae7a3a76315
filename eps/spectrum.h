// Maps that are diagonal in the Fourier basis: a multiplier per frequency of a real image.
#pragma once

#include "eps/core.h"

namespace eps {

// F^{-1} (multiplier F x) for real x, the multiplier in the layout of rfft2: (..., H, W/2 + 1).
inline Tensor filter_spectrum(const Tensor& x, const Tensor& multiplier) {
  const Shape size{x.size(-2), x.size(-1)};
  return at::fft_irfft2(at::fft_rfft2(x) * multiplier, at::IntArrayRef(size));
}

// Zero but for a one at (0, 0), (1, 1, H, W).
inline Tensor unit_impulse(int64_t height, int64_t width, const at::TensorOptions& options) {
  Tensor impulse = at::zeros({1, 1, height, width}, options);
  impulse.select(3, 0).select(2, 0).fill_(1);
  return impulse;
}

}  // namespace eps
