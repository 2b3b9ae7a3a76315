// Methods that are an estimate of E[x0 | x_t, y] and any sampler.
#include "eps/methods/estimate.h"

namespace eps {

std::vector<Field> sampler_fields(int64_t steps, const std::string& solver) {
  return joined(
      level_fields(steps),
      {{"solver", solver, "euler, heun, dpmpp_2m, ddim_renoise, ddim_ancestral or edm_churn"},
       {"schedule", "edm", "edm, flow, vp_cosine or vp_linear"},
       {"eta", "0", "fresh noise of the ddim solvers"},
       {"churn", "0", "EDM's S_churn, of edm_churn"}});
}

Tensor sample_with(const Estimate& estimate,
                   const Oracle& oracle,
                   const Spec& options,
                   const Tensor& noise,
                   Rng& rng) {
  const auto found = schedules().find(options.text("schedule"));
  check(found != schedules().end(),
        options.name(),
        ": unknown schedule ",
        options.text("schedule"),
        "; wanted edm, flow, vp_cosine or vp_linear");
  const Schedule& schedule = *found->second;
  SamplerOptions sampler;
  sampler.solver = options.text("solver");
  sampler.eta = options.real("eta", 0, 1);
  sampler.churn.S_churn = options.real("churn", 0, 1e6);
  check_solver_options(sampler, options.name() + ": ");
  const Tensor grid = schedule.time(noise_levels(oracle, options));
  const Mean mean = [&](const Tensor& x_t, const Tensor& t) {
    const Coefficients c = schedule.at(t);
    return estimate(rescaled(x_t, c), c.sigma());
  };
  return solve(mean, schedule, initial_state(schedule, grid, noise), grid, sampler, rng);
}

}  // namespace eps
