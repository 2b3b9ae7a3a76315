// A stationary prior of small images, for restorations in closed form.
#pragma once

#include "eps/priors/stationary.h"

namespace eps {

inline constexpr int64_t kSide = 16;

// The spectrum of photographs with a pixel deviation of 0.1: next to nothing of them is clipped.
inline Tensor small_spectrum() { return 0.04 * natural_spectrum(kSide, kSide); }
inline Stationary small_prior(double scale = 1) {
  return {at::zeros({1, kSide, kSide}, at::kDouble), scale * small_spectrum()};
}

}  // namespace eps
