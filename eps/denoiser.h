// Denoisers: what answers E[x0 | query], whatever the noise on the query.
#pragma once

#include "eps/pivot.h"

namespace eps {

// x = x0 + noise of covariance (I/sigma^2 + A'A/sigma_y^2)^{-1}; without an operator, sigma^2 I.
// This is the data's own scale, alpha = 1, so one denoiser serves every schedule.
struct Query {
  Tensor x;
  Tensor sigma;
  Operator A;
  Tensor sigma_y;
};

// The unconditional question at x_t: x_t / alpha under isotropic noise.
Query prior_query(const Tensor& x_t, const Coefficients& c);
// The posterior's question at (x_t, y): the pivot under Sigma_star, Thm. 1.
Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c);

class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual Tensor mean(const Query& query) const = 0;  // E[x0 | query]
};

// E[x0 | x_t] or E[x0 | x_t, y] as a function of the sampler's state. The denoiser must outlive it.
using Mean = std::function<Tensor(const Tensor& x_t, const Tensor& t)>;
Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule);
Mean posterior_mean(const Denoiser& denoiser, const Problem& problem, const Schedule& schedule);

}  // namespace eps
