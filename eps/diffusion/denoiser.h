// Denoisers: E[x0 | query], whatever the noise on the query.
#pragma once

#include <limits>
#include <optional>

#include "eps/diffusion/query.h"

namespace eps {

// A `Denoiser` answers queries: an exact prior or a network.
class Denoiser {
 public:
  virtual ~Denoiser() = default;
  virtual Tensor mean(const Query& query) const = 0;  // E[x0 | query]
  // Returns whether mean() decides nothing on the host by a sigma on the device, and copies nothing
  // to the device, so that a GPU can replay it.
  virtual bool recordable() const { return false; }
  // Returns the input with which make_query() builds this denoiser's queries for a method of the
  // given input, or none where the denoiser cannot serve such a method. An exact prior needs the
  // operator in the query, which palette's query lacks.
  virtual std::optional<NetworkInput> input_for(const NetworkInput& method) const;
  // The denoiser's noise levels lie between these two.
  virtual double sigma_min() const { return 0; }
  virtual double sigma_max() const { return std::numeric_limits<double>::infinity(); }
  // Returns the denoiser's noise levels nearest to the given ones, which descend.
  virtual Tensor levels(const Tensor& sigma) const { return sigma; }
};

// Returns the noise levels of a grid, kept in the denoiser's range and rounded to its levels.
Tensor noise_levels(const Denoiser& denoiser, GridOptions options);

// A `Mean` is E[x0 | x_t] or E[x0 | x_t, y] as a function of the sampler's state. The denoiser and
// the schedule must outlive a `Mean` made of them.
using Mean = std::function<Tensor(const Tensor& x_t, const Tensor& t)>;
Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule);
Mean posterior_mean(const Denoiser& denoiser,
                    const Problem& problem,
                    const Schedule& schedule,
                    const NetworkInput& input = NetworkInput::pivot);

}  // namespace eps
