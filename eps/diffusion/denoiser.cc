// The functions of (x_t, t) that samplers integrate.
#include "eps/diffusion/denoiser.h"

#include <algorithm>

namespace eps {

std::optional<NetworkInput> Denoiser::input_for(const NetworkInput& method) const {
  if (method.geometry != Geometry::pivot && method != NetworkInput::prior) return {};
  return method;
}

Tensor noise_levels(const Denoiser& denoiser, GridOptions options) {
  options.sigma_min = std::max(options.sigma_min, denoiser.sigma_min());
  options.sigma_max = std::min(options.sigma_max, denoiser.sigma_max());
  return denoiser.levels(time_grid(edm(), options));
}

Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule) {
  return [&denoiser, &schedule](const Tensor& x_t, const Tensor& t) {
    return denoiser.mean(prior_query(x_t, schedule.at(t)));
  };
}

Mean posterior_mean(const Denoiser& denoiser,
                    const Problem& problem,
                    const Schedule& schedule,
                    const NetworkInput& input) {
  const auto trajectory = std::make_shared<Trajectory>();
  return [&denoiser, &schedule, problem, input, trajectory](const Tensor& x_t, const Tensor& t) {
    return denoiser.mean(make_query(input, problem, x_t, schedule.at(t), *trajectory));
  };
}

}  // namespace eps
