// The two questions a denoiser is asked, and the functions of (x_t, t) that samplers integrate.
#include "eps/denoiser.h"

namespace eps {

Query prior_query(const Tensor& x_t, const Coefficients& c) {
  return {x_t / c.alpha, c.sigma(), nullptr, {}};
}

Query pivot_query(const Problem& problem, const Tensor& x_t, const Coefficients& c) {
  return {pivot(problem, x_t, c), c.sigma(), problem.A, problem.sigma_y};
}

Mean prior_mean(const Denoiser& denoiser, const Schedule& schedule) {
  return [&denoiser, &schedule](const Tensor& x_t, const Tensor& t) {
    return denoiser.mean(prior_query(x_t, schedule.at(t)));
  };
}

Mean posterior_mean(const Denoiser& denoiser, const Problem& problem, const Schedule& schedule) {
  return [&denoiser, &schedule, problem](const Tensor& x_t, const Tensor& t) {
    return denoiser.mean(pivot_query(problem, x_t, schedule.at(t)));
  };
}

}  // namespace eps
