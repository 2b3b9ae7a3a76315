// A sampler turns an estimate of E[x0 | x_t, y] into a method.
#include "eps/methods/estimate.h"

#include "eps/base/registered.h"

namespace eps {

std::vector<Field> sampler_fields(int64_t steps, const std::string& solver) {
  return joined(
      level_fields(steps),
      {Field::choice("solver", solver, solvers(), "solver of the probability flow or its SDE"),
       Field::choice("schedule", "edm", names_of(schedules()), "interpolant of the solver's steps"),
       Field::real("eta", "0", {0, 1}, "fresh noise of the ddim solvers"),
       Field::real("churn", "0", at_least(0), "EDM's S_churn, for solver=edm_churn"),
       Field::choice("last",
                     "mean",
                     {"mean", "flow"},
                     "last step: to the mean, or along the flow, which keeps the spread")});
}

Tensor sample_with(const Estimate& estimate,
                   const Oracle& oracle,
                   const Spec& options,
                   const Tensor& noise,
                   Rng& rng) {
  const Schedule& schedule = *schedules().at(options.text("schedule"));
  SamplerOptions sampler;
  sampler.solver = options.text("solver");
  sampler.eta = options.real("eta");
  sampler.churn.S_churn = options.real("churn");
  check_solver_options(sampler, options.name() + ": ");
  const Tensor grid = schedule.time(noise_levels(oracle.denoiser(), grid_options(options)));
  Tensor state;  // of the latest estimate, on the data's own scale
  const Mean mean = [&](const Tensor& x_t, const Tensor& t) {
    const Coefficients c = schedule.at(t);
    state = rescaled(x_t, c);
    return estimate(state, c.sigma());
  };
  // Every solver returns the estimate at its last state.
  const Tensor D = solve(mean, schedule, initial_state(schedule, grid, noise), grid, sampler, rng);
  const bool one_step = grid.numel() == 2;
  return one_step || options.text("last") == "mean" ? D : (state + D) / 2;
}

}  // namespace eps
