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
// and applies them as a filter. The coefficients and x are float32 whatever the arithmetic of the
// network.
#pragma once

#include <limits>

#include "eps/diffusion/query.h"
#include "eps/nets/unet.h"

namespace eps {

// A `Preconditioning` holds the rule of the coefficients and its constants.
struct Preconditioning {
  enum class Kind { edm, vp, ve, iddpm, anisotropic };
  Kind kind = Kind::edm;

  double sigma_data = 0.5;  // edm, anisotropic
  double beta_d = 19.9;     // vp: sigma(t)^2 = exp(beta_d t^2 / 2 + beta_min t) - 1
  double beta_min = 0.1;    // vp
  int64_t M = 1000;         // vp: c_noise = (M - 1) t; iddpm: entries of the table, less one
  double epsilon_t = 1e-5;  // vp: the smallest t trained on
  double C_1 = 0.001;       // iddpm
  double C_2 = 0.008;       // iddpm
  // edm, ve: the range, where it is not the usual one.
  std::optional<double> sigma_lower = {};
  std::optional<double> sigma_upper = {};
  // anisotropic: the source of p. "constant": sigma_data^2. "spectrum": the data's power along the
  // eigenspace. "geometric_mean" of the two.
  std::string prior_variance = "constant";
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

// A `PreconditionedQuery` applies the coefficients of one query.
class PreconditionedQuery {
 public:
  // The query's side holds the channels that the input lists, all but the skip; without a list the
  // network takes the side unchanged.
  PreconditionedQuery(const Preconditioning& preconditioning,
                      const Query& query,
                      const NetworkInput& input = {});

  // Returns the network's input: c_in x and the side channels, among them c_skip x where the input
  // lists the skip.
  Tensor input() const;
  const Tensor& noise_label() const { return noise_label_; }  // c_noise, (N or 1)
  // Returns c_skip x + c_out F for F = `answer`.
  Tensor mean(const Tensor& answer) const;
  // Returns the target of F, c_out^{-1} (x0 - c_skip x), and 0 along directions without noise.
  Tensor target(const Tensor& x0) const;
  // Returns the mean of c_out^2 over all directions, (N or 1, 1, 1, 1): the size of the error to
  // expect.
  Tensor mean_square_out() const;

 private:
  // A `Rule` maps the noise and prior variances of an eigendirection to its coefficient.
  using Rule = std::function<Tensor(const Tensor& v, const Tensor& p)>;
  struct Directions;
  std::shared_ptr<const Directions> make_directions(const Preconditioning& preconditioning,
                                                    const Query& query) const;
  Tensor filter(const Tensor& x, const Rule& rule) const;
  Tensor skip() const;
  Tensor side(int64_t begin, int64_t end) const;  // these channels, scaled for the network

  Tensor x_;
  Operator A_;  // keeps the spectrum that the directions point to
  Tensor side_;
  NetworkInput input_;
  Tensor skip_;                    // c_skip x, if the input lists it
  PreconditioningCoefficients c_;  // (N or 1, 1, 1, 1), or 0-dimensional on the CPU
  Tensor noise_label_;
  std::shared_ptr<const Directions> directions_;  // none: the coefficients are the numbers in c_
};

// Returns the noise level that a sampler should use in place of sigma: sigma itself, or for iddpm
// the nearest of its noise levels. The result has the type of sigma.
Tensor rounded_sigma(const Preconditioning& preconditioning, const Tensor& sigma);

// Returns the M + 1 noise levels of iddpm, u_0 > ... > u_M = 0 (Nichol and Dhariwal 2021), in
// float64.
Tensor iddpm_noise_levels(const Preconditioning& preconditioning);

// Returns E|x_hat(k)|^2 of images (N, C, H, W) in [-1, 1], averaged over images and channels, as
// (H, W/2 + 1) in float32. The mean is not subtracted, as for sigma_data.
Tensor power_spectrum(const Tensor& images);

// Returns E[x0 | query], float32 (N, img_channels, H, W), for sigma of one element or of N. With a
// generator the network is in training mode.
Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const NetworkInput& input,
               const Query& query,
               const Tensor& augment_labels = {},
               const at::Generator& training = {});

// A `Conditioning` holds the optional inputs of a network under isotropic noise, beside x and
// sigma.
struct Conditioning {
  Tensor labels = {};       // (N, label_dim); an unconditional network ignores them
  Tensor side = {};         // (N, C', H, W): the further channels, but for the skip
  NetworkInput input = {};  // of the network; needed where the input scales the side or has a skip
  Tensor augment_labels = {};   // (N, augment_dim)
  at::Generator training = {};  // given: training mode, with dropout drawn from it
};
Tensor denoise(const nets::UNet& network,
               const Preconditioning& preconditioning,
               const Tensor& x,
               const Tensor& sigma,
               const Conditioning& conditioning = {});

}  // namespace eps
