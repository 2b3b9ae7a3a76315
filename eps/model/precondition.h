// Preconditioning: the denoiser D around the network F (Karras et al. 2022, Table 1).
//
//   D(x) = c_skip x + c_out F(c_in x; c_noise)
//
// for x = x0 + noise. With EDM's and its forerunners' rules the coefficients are numbers that
// depend on sigma alone. But the noise on a pivot is Sigma_star, tiny along measured directions and
// sigma along all others: `anisotropic` gives each eigendirection of A'A EDM's coefficients for its
// own noise variance v and prior variance p,
//
//   c_skip = p / (v + p)    c_out = sqrt(v p / (v + p))    c_in = 1 / sqrt(v + p),
//
// and applies them as a filter. With a prior mean m, an estimate of the image from the noisy one
// that the network need not learn, the data are those about it:
//
//   D(x) = m + c_skip (x - m) + c_out F(c_in x; c_noise)
//
// `discrete` is the rule of networks that were trained on M steps of a variance-preserving process
// (DDPM, ADM): at step t the image is (x0 + sigma_t n) / sqrt(1 + sigma_t^2), where
// 1 / (1 + sigma_t^2) is the product of 1 - beta_0 to 1 - beta_t. The step of a sigma between two
// steps is a fraction, linear in log sigma, as VP's time is a real number and unlike iDDPM's, so
// that D is a continuous function of sigma with the network's own answers at the steps. With
// `denoiser` F is D itself, of x and sigma. The coefficients and x are float32 whatever the
// arithmetic of the network.
#pragma once

#include <limits>
#include <optional>

#include "eps/base/core.h"

namespace eps {

// A `Preconditioning` holds the rule of the coefficients and its constants.
struct Preconditioning {
  enum class Kind { edm, vp, ve, iddpm, discrete, denoiser, anisotropic };
  Kind kind = Kind::edm;

  double sigma_data = 0.5;  // edm, anisotropic
  double beta_d = 19.9;     // vp: sigma(t)^2 = exp(beta_d t^2 / 2 + beta_min t) - 1
  double beta_min = 0.1;    // vp
  // vp: c_noise = (M - 1) t; iddpm: entries of the table, less one; discrete: steps
  int64_t M = 1000;
  double epsilon_t = 1e-5;  // vp: the smallest t trained on
  double C_1 = 0.001;       // iddpm
  double C_2 = 0.008;       // iddpm
  // discrete: what F is, `epsilon` (the noise), `sample` (x0) or `v` (alpha noise - beta x0);
  // beta_0 to beta_{M-1}, `linear`, `scaled_linear` (their roots are linear), `cosine` or `table`;
  // and c_noise over the step.
  std::string prediction = "epsilon";
  std::string beta_schedule = "linear";
  double beta_start = 1e-4;
  double beta_end = 0.02;
  std::vector<double> betas = {};
  double label_scale = 1;
  // edm, ve: the range, where it is not the usual one.
  std::optional<double> sigma_lower = {};
  std::optional<double> sigma_upper = {};
  // anisotropic: the source of p. "constant": sigma_data^2. "spectrum": the data's power along the
  // eigenspace. "geometric_mean" of the two.
  std::string prior_variance = "constant";
  // anisotropic: m. "zero", or "neighbours": pyramid_estimate() of x with the variance of the noise
  // on each pixel (eps/math/pyramid.h), which fills holes from around them; the network's part of a
  // pixel that is known better than those around it is then scaled down (answer_scale()).
  std::string prior_mean = "zero";
  Tensor spectrum = {};  // (H, W/2 + 1): E|x_hat(k)|^2 of the orthonormal rfft2, all channels alike

  // The noise levels of the network lie between these two; samplers keep their schedules inside.
  double sigma_min() const;
  double sigma_max() const;
  Preconditioning on(at::Device device) const;
  bool operator==(const Preconditioning& other) const;
};

// The `PreconditioningCoefficients` are float32, of the shape of sigma: one number, or one per
// image. For anisotropic they are EDM's.
struct PreconditioningCoefficients {
  Tensor c_skip, c_out, c_in, c_noise;
};
PreconditioningCoefficients coefficients(const Preconditioning& preconditioning,
                                         const Tensor& sigma);

// Returns the noise level that a sampler should use in place of sigma: sigma itself, or for iddpm
// the nearest of its noise levels. The result has the type of sigma.
Tensor rounded_sigma(const Preconditioning& preconditioning, const Tensor& sigma);

// Returns the M + 1 noise levels of iddpm, u_0 > ... > u_M = 0 (Nichol and Dhariwal 2021), in
// float64.
Tensor iddpm_noise_levels(const Preconditioning& preconditioning);

// Returns the M noise levels of discrete, sigma_0 < ... < sigma_{M-1}, in float64.
Tensor discrete_noise_levels(const Preconditioning& preconditioning);

// Returns E|x_hat(k)|^2 of images (N, C, H, W) in [-1, 1], averaged over images and channels, as
// (H, W/2 + 1) in float32. The mean is not subtracted, as for sigma_data.
Tensor power_spectrum(const Tensor& images);

}  // namespace eps
