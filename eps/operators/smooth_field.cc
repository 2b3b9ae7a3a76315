// Smooth random fields, from which operators draw what is missing.
#include "eps/operators/smooth_field.h"

#include <numbers>

#include "eps/math/spectrum.h"

namespace eps {

Tensor draw_smooth_field(const Tensor& std, const Tensor& like, Rng& rng) {
  const int64_t height = like.size(2), width = like.size(3);
  const Tensor noise = rng.normal({like.size(0), 1, height, width});
  const Tensor rows = at::fft_fftfreq(height, 1.0, noise.options()).unsqueeze(1);
  const Tensor columns = at::fft_rfftfreq(width, 1.0, noise.options());
  const Tensor angular = 2 * std::numbers::pi * (rows.square() + columns.square()).sqrt();
  const Tensor transfer = (-(std * angular).square() / 2).exp();
  const Tensor deviation = spectral_mean(transfer.square(), width).sqrt();
  return filter_spectrum(noise, transfer / deviation);
}

}  // namespace eps
