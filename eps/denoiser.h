// Denoisers: what answers E[x0 | query], whatever the noise on the query.
#pragma once

#include "eps/query.h"

namespace eps {

class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual Tensor mean(const Query& query) const = 0;  // E[x0 | query]
};

// E[x0 | x_t] or E[x0 | x_t, y] as a function of the sampler's state. The denoiser must outlive it.
using Mean = std::function<Tensor(const Tensor& x_t, const Tensor& t)>;
Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule);
Mean posterior_mean(const Denoiser& denoiser,
                    const Problem& problem,
                    const Schedule& schedule,
                    Input input = Input::pivot);

}  // namespace eps
