// The question to a denoiser at (x_t, y, t). Trainer and methods both call make_query(), so they
// cannot disagree about what a network sees.
#pragma once

#include "eps/diffusion/network_input.h"
#include "eps/diffusion/pivot.h"

namespace eps {

// x = x0 + noise of covariance (I/sigma^2 + A'A/sigma_y^2)^{-1}; without an operator, sigma^2 I.
// This is the data's own scale, alpha = 1, so one denoiser serves every schedule.
struct Query {
  Tensor x;
  Tensor sigma;
  Operator A = nullptr;
  Tensor sigma_y = {};
  Tensor side = {};    // (N, C', H, W): further channels for a network, all but the skip
  Tensor labels = {};  // (N, label_dim)
};

// The query of a bridge is x_t as it is, at the noise level that its network is told. The problem
// is not looked at where the input is a prior's.
Query make_query(const NetworkInput& input,
                 const Problem& problem,
                 const Tensor& x_t,
                 const Coefficients& c);

// The two questions an exact prior is asked.
Query prior_query(const Tensor& x_t, const Coefficients& c);
Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c);

}  // namespace eps
