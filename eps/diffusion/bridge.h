// Bridges: images on the way from the clean x0 to the degraded x1 = picture(y), and the way back.
//
//   x_t = (1 - w) x0 + w x1 + s n,   n ~ N(0, I),   x0 at t = 0 and x1 at t = 1.
//
// A network for the input `indi` or `i2sb` answers E[x0 | x_t] from x_t and a noise level sigma(t),
// the label of the place on the bridge. Both labels are about the size of x_t - x0 (I2SB: exactly
// its noise where x1 is x0 with noise of variance S; InDI: t |x1 - x0|), so EDM's preconditioning
// at sigma fits, and a prior's weights are a good start. EDM's loss then weighs |D - x0|^2 by
// 1/sigma^2 + 1/sigma_data^2; I2SB's authors weigh by 1/sigma^2, InDI's not at all.
#pragma once

#include "eps/base/random.h"
#include "eps/diffusion/denoiser.h"

namespace eps {

// A `Bridge` holds w and s as functions of sigma, and sigma as a function of t.
struct Bridge {
  using Function = std::function<Tensor(const Tensor&)>;
  Function sigma;     // of t in [0, 1]; rises from 0
  Function weight;    // w of sigma; rises from 0 to 1
  Function variance;  // s^2 of sigma; 0 at both ends

  double sigma_max() const { return sigma(scalar(1)).item<double>(); }
};

// Returns the bridge of an input `indi` or `i2sb`; other inputs are an Error.
// indi: sigma = w = t, s = 0 (Delbracio and Milanfar 2023).
// i2sb: the Brownian bridge that gathers the variance sigma^2 by time t and S = sigma(1)^2 in all,
//       so w = sigma^2/S and s^2 = sigma^2 (1 - w) (Liu et al. 2023). Its rate is the authors': the
//       square of a line from 0.01 towards sqrt(3e-4) for the first half of 1000 steps, mirrored
//       for the second; S is about 0.14.
const Bridge& bridge_of(const NetworkInput& input);

// Returns x_t for sigma a per-sample scalar and n of the shape of x0.
Tensor on_bridge(
    const Bridge& bridge, const Tensor& x0, const Tensor& x1, const Tensor& sigma, const Tensor& n);

// Goes back from x1 to x0 in equal steps of t. Each step draws x_t' given x_t and x0 = E[x0 | x_t],
// from t to t':
//
//   x' = x0 + r (x - x0) + sqrt(s'^2 - r^2 s^2) z,   r = w'/w,
//
// or takes its mean, if not noisy. One step is E[x0 | x1]. The levels are not those of a sampler
// (Denoiser::levels), but the labels of the network's training.
Tensor cross_bridge(const Bridge& bridge,
                    const Mean& mean,
                    const Tensor& x1,
                    int64_t steps,
                    Rng& rng,
                    bool noisy = true);

}  // namespace eps
