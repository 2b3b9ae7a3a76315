// The samplers, each as close to its paper's algorithm as C++ allows.
#include "eps/diffusion/sampler.h"

#include <algorithm>
#include <cmath>

namespace eps {
namespace {

// x = step(x, t, t_next) for every interval of the grid but the last, which ends at t = 0 where
// beta = 0 and no velocity exists: there the sample is the mean.
template <class Step>
Tensor descend(const Mean& mean, Tensor x, const Tensor& grid, const Step& step) {
  const int64_t steps = grid.numel() - 1;
  check(steps >= 1 && grid[-1].item<double>() == 0,
        "sampler: the grid must end in 0 and have at least one step");
  for (int64_t i = 0; i + 1 < steps; ++i) x = step(x, grid[i], grid[i + 1]);
  return mean(x, grid[steps - 1]);
}

Tensor velocity(const Mean& mean, const Schedule& schedule, const Tensor& x_t, const Tensor& t) {
  return velocity_from_mean(x_t, mean(x_t, t), schedule.at(t));
}

Tensor euler_step(const Mean& mean,
                  const Schedule& schedule,
                  const Tensor& x_t,
                  const Tensor& t,
                  const Tensor& next) {
  return x_t + (next - t) * velocity(mean, schedule, x_t, t);
}

// The mean of the velocities at both ends of Euler's step.
Tensor heun_step(const Mean& mean,
                 const Schedule& schedule,
                 const Tensor& x_t,
                 const Tensor& t,
                 const Tensor& next) {
  const Tensor v = velocity(mean, schedule, x_t, t);
  const Tensor v_next = velocity(mean, schedule, x_t + (next - t) * v, next);
  return x_t + (next - t) * (v + v_next) / 2;
}

}  // namespace

Tensor initial_state(const Schedule& schedule, const Tensor& grid, const Tensor& noise) {
  return schedule.at(grid[0]).beta * noise.to(at::kDouble);
}

Tensor euler(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  return descend(
      mean, std::move(x), grid, [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
        return euler_step(mean, schedule, x_t, t, next);
      });
}

Tensor heun(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  return descend(
      mean, std::move(x), grid, [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
        return heun_step(mean, schedule, x_t, t, next);
      });
}

Tensor edm_churn(const Mean& mean,
                 const Schedule& schedule,
                 Tensor x,
                 const Tensor& grid,
                 const ChurnOptions& options,
                 Rng& rng) {
  const auto steps = static_cast<double>(grid.numel() - 1);
  const double most = std::min(options.churn / steps, std::sqrt(2.0) - 1);
  // Raises the noise of x from time t; returns the new time.
  const auto raise = [&](Tensor& state, const Tensor& t) -> Tensor {
    const Coefficients c = schedule.at(t);
    const double sigma = c.sigma().item<double>();
    const Tensor noise =
        rng.normal(state.sizes().vec(), state.options());  // drawn even if unused, as EDM does
    if (most == 0 || sigma < options.min || sigma > options.max) return t;
    const double raised = sigma * (1 + most);
    const Tensor t_hat = schedule.time(scalar(raised));
    const double added = options.noise * std::sqrt(raised * raised - sigma * sigma);
    state = schedule.at(t_hat).alpha * (state / c.alpha + added * noise);
    return t_hat;
  };
  const auto step = [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
    Tensor x_hat = x_t;
    const Tensor t_hat = raise(x_hat, t);
    return (options.second_order ? heun_step : euler_step)(mean, schedule, x_hat, t_hat, next);
  };
  // The last step raises noise too, and then returns the mean at the raised time.
  const Mean last = [&](const Tensor& x_t, const Tensor& t) {
    Tensor x_hat = x_t;
    const Tensor t_hat = raise(x_hat, t);
    return mean(x_hat, t_hat);
  };
  return descend(last, std::move(x), grid, step);
}

Tensor ddim_step(const Tensor& x0,
                 const Tensor& e,
                 const Tensor& sigma,
                 const Tensor& sigma_next,
                 double eta,
                 DdimConvention convention,
                 Rng& rng) {
  const Tensor fresh = convention == DdimConvention::renoise
                           ? eta * sigma_next
                           : eta * sigma_next * (1 - (sigma_next / sigma).square()).sqrt();
  const Tensor kept = (sigma_next.square() - fresh.square()).clamp_min(0).sqrt();
  const Tensor z = x0 + kept * e;
  return eta > 0 ? z + fresh * rng.normal(z.sizes().vec(), z.options()) : z;
}

Tensor ddim(const Mean& mean,
            const Schedule& schedule,
            Tensor x,
            const Tensor& grid,
            double eta,
            DdimConvention convention,
            Rng& rng) {
  check(eta >= 0 && eta <= 1, "ddim: eta must be in [0, 1], got ", eta);
  return descend(
      mean, std::move(x), grid, [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
        const Coefficients c = schedule.at(t), c_next = schedule.at(next);
        const Tensor x0 = mean(x_t, t);
        const Tensor e = noise_from_mean(x_t, x0, c);
        return c_next.alpha * ddim_step(x0, e, c.sigma(), c_next.sigma(), eta, convention, rng);
      });
}

Tensor dpmpp_2m(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  Tensor previous;       // the mean one step before
  Tensor previous_step;  // and that step in log(alpha/beta)
  return descend(
      mean, std::move(x), grid, [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
        const Coefficients c = schedule.at(t), c_next = schedule.at(next);
        const Tensor x0 = mean(x_t, t);
        const Tensor h = (c.sigma() / c_next.sigma()).log();
        // Linear extrapolation of the mean to the middle of the step.
        const Tensor middle =
            previous.defined() ? x0 + 0.5 * h / previous_step * (x0 - previous) : x0;
        previous = x0;
        previous_step = h;
        return c_next.beta / c.beta * x_t - c_next.alpha * at::expm1(-h) * middle;
      });
}

const std::vector<std::string>& solvers() {
  static const std::vector<std::string> names = {
      "euler", "heun", "edm_churn", "ddim_renoise", "ddim_ancestral", "dpmpp_2m"};
  return names;
}

Tensor solve(const Mean& mean,
             const Schedule& schedule,
             Tensor x,
             const Tensor& grid,
             const SamplerOptions& options,
             Rng& rng) {
  const std::string& solver = options.solver;
  if (solver == "euler") return euler(mean, schedule, std::move(x), grid);
  if (solver == "heun") return heun(mean, schedule, std::move(x), grid);
  if (solver == "edm_churn")
    return edm_churn(mean, schedule, std::move(x), grid, options.churn, rng);
  if (solver == "ddim_renoise")
    return ddim(mean, schedule, std::move(x), grid, options.eta, DdimConvention::renoise, rng);
  if (solver == "ddim_ancestral")
    return ddim(mean, schedule, std::move(x), grid, options.eta, DdimConvention::ancestral, rng);
  if (solver == "dpmpp_2m") return dpmpp_2m(mean, schedule, std::move(x), grid);
  std::string known;
  for (const auto& name : solvers()) known += (known.empty() ? "" : ", ") + name;
  fail("unknown solver \"", solver, "\"", ", wanted one of ", known);
}

Tensor sample(const Mean& mean,
              const Schedule& schedule,
              const Shape& shape,
              const SamplerOptions& options,
              Rng& rng,
              const at::TensorOptions& tensor_options) {
  const Tensor grid = time_grid(schedule, options.grid);
  const Tensor noise = rng.normal(shape, tensor_options.dtype(at::kDouble));
  return solve(mean, schedule, initial_state(schedule, grid, noise), grid, options, rng);
}

}  // namespace eps
