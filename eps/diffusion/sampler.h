// A sampler turns noise at the first time of a grid into a sample at t = 0, on any interpolant.
//
// Each sampler needs E[x0 | x_t] alone; with the conditional mean it samples the posterior. The
// state is float64 and no step waits for the device. `grid` is a descending float64 CPU tensor
// ending in 0 (time_grid()). The last step, to t = 0, always returns the mean itself: for EDM and
// flow the mean is Euler's step, and for VP it removes the noise that a finite step would leave.
#pragma once

#include "eps/base/random.h"
#include "eps/diffusion/multistep.h"

namespace eps {

// Returns x_T = beta_T n for noise n ~ N(0, I), in float64, the start of every sampler.
Tensor initial_state(const Schedule& schedule, const Tensor& grid, const Tensor& noise);

// euler() and heun() integrate the probability-flow ODE dx/dt = v(x, t), Eqs. (4), (13), in steps
// of t.
Tensor euler(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid);
Tensor heun(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid);

// EDM's stochastic sampler (Karras et al. 2022, Alg. 2) raises the noise before each Heun step, or
// before each Euler step if not second_order.
struct ChurnOptions {
  double S_churn = 0;
  double S_min = 0;  // the sigmas between which noise is raised
  double S_max = INFINITY;
  double S_noise = 1;
  bool second_order = true;
};
Tensor edm_churn(const Mean& mean,
                 const Schedule& schedule,
                 Tensor x,
                 const Tensor& grid,
                 const ChurnOptions& options,
                 Rng& rng);

// DDIM (Song et al. 2021) has two inequivalent conventions, with z = x/alpha, s = beta/alpha:
//   renoise: z' = x0 + s' (sqrt(1 - eta^2) e + eta n). eta = 1 draws all noise anew.
//   ancestral: z' = x0 + sqrt(s'^2 - r^2) e + r n, r = eta s' sqrt(1 - s'^2/s^2). eta = 1 is DDPM.
enum class DdimConvention { renoise, ancestral };
// `DdimNoise` holds the parts of the noise in a DDIM step: `kept` of the estimate e and `fresh` of
// n.
struct DdimNoise {
  Tensor kept, fresh;
};
DdimNoise ddim_noise(const Tensor& sigma,
                     const Tensor& sigma_next,
                     double eta,
                     DdimConvention convention);
// Takes one DDIM step to the noise level s' = sigma_next, on the data's own scale. x0: the estimate
// of the clean image; e: the estimate of the noise.
Tensor ddim_step(const Tensor& x0,
                 const Tensor& e,
                 const Tensor& sigma,
                 const Tensor& sigma_next,
                 double eta,
                 DdimConvention convention,
                 Rng& rng);
Tensor ddim(const Mean& mean,
            const Schedule& schedule,
            Tensor x,
            const Tensor& grid,
            double eta,
            DdimConvention convention,
            Rng& rng);

// DPM-Solver++(2M) (Lu et al. 2022) is of second order and takes one evaluation a step.
Tensor dpmpp_2m(const Mean& mean, const Schedule& schedule, Tensor x, const Tensor& grid);

// A `SamplerOptions` names one of the samplers above, or of multistep.h, and holds the options of
// all.
struct SamplerOptions {
  std::string solver = "euler";  // one of solvers()
  GridOptions grid;              // of sample()
  ChurnOptions churn;
  double eta = 0;
};
const std::vector<std::string>& solvers();
// Throws an Error if eta or churn is set and the solver does not use it. `prefix` stands before the
// option's name in the message, such as "--".
void check_solver_options(const SamplerOptions& options, const std::string& prefix);
// Samples from the state x at the first time of a given grid.
Tensor solve(const Mean& mean,
             const Schedule& schedule,
             Tensor x,
             const Tensor& grid,
             const SamplerOptions& options,
             Rng& rng);
// Samples from noise that rng draws, (N, C, H, W), on the grid of the options.
Tensor sample(const Mean& mean,
              const Schedule& schedule,
              const Shape& shape,
              const SamplerOptions& options,
              Rng& rng,
              const at::TensorOptions& tensor_options = at::kDouble);

}  // namespace eps
