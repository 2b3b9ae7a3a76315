// Denoisers: what answers E[x0 | query], whatever the noise on the query.
#pragma once

#include <limits>
#include <optional>

#include "eps/diffusion/query.h"

namespace eps {

class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual Tensor mean(const Query& query) const = 0;  // E[x0 | query]
  // Returns the input that make_query() is to build this denoiser's queries with for a method of
  // this input, or none where the denoiser cannot serve such a method. An exact prior needs the
  // operator in the query, which palette's has not.
  virtual std::optional<NetworkInput> input_for(const NetworkInput& method) const;
  // The noise levels it knows lie between these.
  virtual double sigma_min() const { return 0; }
  virtual double sigma_max() const { return std::numeric_limits<double>::infinity(); }
  // Those nearest to these, which are given from high to low, at which it may be asked.
  virtual Tensor levels(const Tensor& sigma) const { return sigma; }
};

// The noise levels of a grid, kept in the denoiser's range and at levels where it may be asked.
Tensor noise_levels(const Denoiser& denoiser, GridOptions options);

// E[x0 | x_t] or E[x0 | x_t, y] as a function of the sampler's state. The denoiser must outlive it.
using Mean = std::function<Tensor(const Tensor& x_t, const Tensor& t)>;
Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule);
Mean posterior_mean(const Denoiser& denoiser,
                    const Problem& problem,
                    const Schedule& schedule,
                    const NetworkInput& input = NetworkInput::pivot);

}  // namespace eps
