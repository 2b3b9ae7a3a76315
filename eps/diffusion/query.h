// What a denoiser is asked at (x_t, y, t). Trainer and methods both call make_query(), so they
// cannot disagree about what a network sees.
#pragma once

#include "eps/diffusion/pivot.h"

namespace eps {

// x = x0 + noise of covariance (I/sigma^2 + A'A/sigma_y^2)^{-1}; without an operator, sigma^2 I.
// This is the data's own scale, alpha = 1, so one denoiser serves every schedule.
struct Query {
  Tensor x;
  Tensor sigma;
  Operator A = nullptr;
  Tensor sigma_y = {};
  Tensor side = {};    // (N, C', H, W): further channels for a network
  Tensor labels = {};  // (N, label_dim)
};

// What a network is shown (App. C, Input Configuration Ablation):
//   prior        [x_t]                the unconditional question
//   palette      [x_t, y]             Palette (Saharia et al. 2022)
//   pivot        [mu_star]
//   pivot_sigma  [mu_star, Sigma_star], the diagonal of Sigma_star as ln(standard deviation) / 4,
//                                     the scale on which EDM tells its networks sigma
//   eps          [mu_star, y]         the paper's EPS
//   eps_precision [mu_star, y, ln(1 + diag(A'A)/(4 sigma_y^2)) / 8]: beside them, how much is known
//                                     of each pixel beyond a prior deviation of 1/2. In y a hole of
//                                     a mask and a grey pixel are both 0, and sigma_y is nowhere to
//                                     be seen; here both are plain
//   indi         [x_t]                x_t on the way from x0 to picture(y) (eps/bridge.h), InDI
//   i2sb         [x_t]                likewise, I2SB
enum class Input { prior, palette, pivot, pivot_sigma, eps, eps_precision, indi, i2sb };

const std::map<std::string, Input>& inputs();
std::string to_string(Input input);
Input parse_input(const std::string& name);
// What the methods for a network are for: eps for eps_precision, which is EPS shown more; itself
// otherwise.
Input method_input(Input network);
bool uses_pivot(Input input);
// Whether x_t is no x0 with noise, but on a bridge from x0 to picture(y).
bool is_bridge(Input input);
// Channels beside the image's own: a multiple of them.
int64_t side_channels(Input input, int64_t image_channels);

// y enters as picture(y), an image of the size of x. The query of a bridge is x_t as it is, at the
// noise level that its network is told.
Query make_query(Input input, const Problem& problem, const Tensor& x_t, const Coefficients& c);

// The two questions an exact prior is asked.
Query prior_query(const Tensor& x_t, const Coefficients& c);
Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c);

}  // namespace eps
