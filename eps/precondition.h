// Preconditioning: the denoiser D(x, sigma) around the network F (Karras et al. 2022, Table 1).
//
//   D(x, sigma) = c_skip x + c_out F(c_in x; c_noise)
//
// for x = x0 + sigma z. The coefficients and x are float32 whatever type the network computes in.
#pragma once

#include <limits>

#include "eps/nets/unet.h"

namespace eps {

struct Preconditioning {
  enum class Kind { edm, vp, ve, iddpm };
  Kind kind = Kind::edm;

  double sigma_data = 0.5;  // edm
  double beta_d = 19.9;     // vp: sigma(t)^2 = exp(beta_d t^2 / 2 + beta_min t) - 1
  double beta_min = 0.1;    // vp
  int64_t M = 1000;         // vp: c_noise = (M - 1) t; iddpm: entries of the table, less one
  double epsilon_t = 1e-5;  // vp: the smallest t trained on
  double C_1 = 0.001;       // iddpm
  double C_2 = 0.008;       // iddpm
  std::optional<double> sigma_lower =
      {};  // edm, ve: the range where another than the usual is given
  std::optional<double> sigma_upper = {};

  // The noise levels the network was made for; samplers keep their schedules inside.
  double sigma_min() const;
  double sigma_max() const;
  bool operator==(const Preconditioning&) const = default;
};

// Float32, of the shape of sigma: one number, or one per image.
struct PreconditioningCoefficients {
  Tensor c_skip, c_out, c_in, c_noise;
};
PreconditioningCoefficients coefficients(const Preconditioning& preconditioning,
                                         const Tensor& sigma);

// The noise level a sampler should use in place of sigma: sigma itself, or for iddpm the nearest of
// its noise levels. In the type of sigma.
Tensor rounded_sigma(const Preconditioning& preconditioning, const Tensor& sigma);

// The M + 1 noise levels of iddpm, u_0 > ... > u_M = 0 (Nichol and Dhariwal 2021). Float64.
Tensor iddpm_noise_levels(const Preconditioning& preconditioning);

// What the network is told beside x and sigma; each may be left out.
struct Conditioning {
  Tensor labels = {};           // (N, label_dim); an unconditional network ignores them
  Tensor side = {};             // (N, in_channels - img_channels, H, W), passed on as it is
  Tensor augment_labels = {};   // (N, augment_dim)
  at::Generator training = {};  // given: training mode, with dropout drawn from it
};

// E[x0 | x], float32 (N, img_channels, H, W), for sigma of one element or of N.
Tensor denoise(const UNet& network,
               const Preconditioning& preconditioning,
               const Tensor& x,
               const Tensor& sigma,
               const Conditioning& conditioning = {});

}  // namespace eps
