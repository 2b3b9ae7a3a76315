// Each sampler follows its paper's algorithm as closely as C++ allows.
#include "eps/diffusion/sampler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace eps {
namespace {

int64_t steps_of(const Tensor& grid) {
  const int64_t steps = grid.numel() - 1;
  check(steps >= 1 && grid[-1].item<double>() == 0,
        "sampler: the grid must end in 0 and have at least one step");
  return steps;
}

// Takes x = step(x, t_cur, t_next) over every interval of the grid but the last, which ends at
// t = 0 where beta = 0 and no velocity exists: there the sample is the mean.
template <class Step>
Tensor integrate(const Mean& mean, Tensor x, const Tensor& grid, const Step& step) {
  const int64_t steps = steps_of(grid);
  for (int64_t i = 0; i + 1 < steps; ++i) x = step(x, grid[i], grid[i + 1]);
  return mean(x, grid[steps - 1]);
}

Tensor velocity(const Mean& mean, const Schedule& schedule, const Tensor& x_t, const Tensor& t) {
  return velocity_from_mean(x_t, mean(x_t, t), schedule.at(t));
}

Tensor euler_step(const Mean& mean,
                  const Schedule& schedule,
                  const Tensor& x_cur,
                  const Tensor& t_cur,
                  const Tensor& t_next) {
  const Tensor d_cur = velocity(mean, schedule, x_cur, t_cur);
  return x_cur + (t_next - t_cur) * d_cur;
}

Tensor heun_step(const Mean& mean,
                 const Schedule& schedule,
                 const Tensor& x_cur,
                 const Tensor& t_cur,
                 const Tensor& t_next) {
  const Tensor d_cur = velocity(mean, schedule, x_cur, t_cur);
  const Tensor x_next = x_cur + (t_next - t_cur) * d_cur;
  const Tensor d_prime = velocity(mean, schedule, x_next, t_next);
  return x_cur + (t_next - t_cur) * (0.5 * d_cur + 0.5 * d_prime);
}

}  // namespace

Tensor initial_state(const Schedule& schedule, const Tensor& grid, const Tensor& noise) {
  return schedule.at(grid[0]).beta * noise.to(at::kDouble);
}

Tensor euler(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  return integrate(mean,
                   std::move(x),
                   grid,
                   [&](const Tensor& x_cur, const Tensor& t_cur, const Tensor& t_next) {
                     return euler_step(mean, schedule, x_cur, t_cur, t_next);
                   });
}

Tensor heun(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid) {
  return integrate(mean,
                   std::move(x),
                   grid,
                   [&](const Tensor& x_cur, const Tensor& t_cur, const Tensor& t_next) {
                     return heun_step(mean, schedule, x_cur, t_cur, t_next);
                   });
}

// The lines of Algorithm 2 follow in their order and with their names, but in two respects. Times
// are those of the schedule, so that noise is added on the data's own scale, x/alpha, where it has
// the standard deviation sigma. The last step, whose t_next is 0, returns the mean, which equals
// its Euler step.
Tensor edm_churn(const Mean& mean,
                 const Schedule& schedule,
                 Tensor x,
                 const Tensor& grid,
                 const ChurnOptions& options,
                 Rng& rng) {
  const int64_t N = steps_of(grid);
  const auto [S_churn, S_min, S_max, S_noise, second_order] = options;
  for (int64_t i = 0; i < N; ++i) {
    const Tensor t_cur = grid[i], t_next = grid[i + 1];
    const Coefficients c = schedule.at(t_cur);
    const double sigma = c.sigma().item<double>();

    const bool churned = S_min <= sigma && sigma <= S_max;
    const double gamma =
        churned ? std::min(S_churn / static_cast<double>(N), std::sqrt(2.0) - 1) : 0;
    const Tensor epsilon =
        rng.normal(x.sizes().vec(), x.options());  // even if gamma is 0, as in EDM
    const double sigma_hat = sigma * (1 + gamma);
    Tensor t_hat = t_cur, x_hat = x;
    if (gamma > 0) {
      const double added = S_noise * std::sqrt(sigma_hat * sigma_hat - sigma * sigma);
      t_hat = schedule.time(scalar(sigma_hat));
      x_hat = schedule.at(t_hat).alpha * (x / c.alpha + added * epsilon);
    }

    if (i == N - 1) return mean(x_hat, t_hat);
    x = (second_order ? heun_step : euler_step)(mean, schedule, x_hat, t_hat, t_next);
  }
  return x;
}

DdimNoise ddim_noise(const Tensor& sigma,
                     const Tensor& sigma_next,
                     double eta,
                     DdimConvention convention) {
  const Tensor fresh = convention == DdimConvention::renoise
                           ? eta * sigma_next
                           : eta * sigma_next * (1 - (sigma_next / sigma).square()).sqrt();
  return {(sigma_next.square() - fresh.square()).clamp_min(0).sqrt(), fresh};
}

Tensor ddim_step(const Tensor& x0,
                 const Tensor& e,
                 const Tensor& sigma,
                 const Tensor& sigma_next,
                 double eta,
                 DdimConvention convention,
                 Rng& rng) {
  const auto [kept, fresh] = ddim_noise(sigma, sigma_next, eta, convention);
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
  return integrate(
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
  return integrate(
      mean, std::move(x), grid, [&](const Tensor& x_t, const Tensor& t, const Tensor& next) {
        const Coefficients c = schedule.at(t), c_next = schedule.at(next);
        const Tensor x0 = mean(x_t, t);
        const Tensor h = (c.sigma() / c_next.sigma()).log();
        // The mean is extrapolated linearly to the middle of the step.
        const Tensor middle =
            previous.defined() ? x0 + 0.5 * h / previous_step * (x0 - previous) : x0;
        previous = x0;
        previous_step = h;
        return c_next.beta / c.beta * x_t - c_next.alpha * at::expm1(-h) * middle;
      });
}

const std::vector<std::string>& solvers() {
  static const std::vector<std::string> names = {
      "euler", "heun", "edm_churn", "ddim_renoise", "ddim_ancestral", "dpmpp_2m", "ipndm", "unipc"};
  return names;
}

void check_solver_options(const SamplerOptions& options, const std::string& prefix) {
  const std::string& solver = options.solver;
  check(options.eta == 0 || solver == "ddim_renoise" || solver == "ddim_ancestral",
        prefix,
        "eta: the solver ",
        solver,
        " takes no fresh noise; wanted ddim_renoise or ddim_ancestral");
  check(options.churn.S_churn == 0 || solver == "edm_churn",
        prefix,
        "churn: the solver ",
        solver,
        " takes no churn; wanted edm_churn");
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
  if (solver == "ipndm") return ipndm(mean, schedule, std::move(x), grid);
  if (solver == "unipc") return unipc(mean, schedule, std::move(x), grid);
  fail("unknown solver \"",
       solver,
       "\", wanted one of ",
       fmt::to_string(fmt::join(solvers(), ", ")));
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
