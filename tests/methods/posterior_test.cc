// EPS, what it is compared with first, and the prior asked at the pivot: against dense matrices.
#include <fmt/format.h>

#include "eps/diffusion/sampler.h"
#include "eps/operators/factories.h"
#include "eps/priors/stationary.h"
#include "tests/methods/method_testbed.h"

namespace eps {
namespace {

// Two of Euler's steps, from 2 to 0.5 to 0.
const std::string kTwoSteps = ":solver=euler,rho=7,steps=2,sigma_max=2,sigma_min=0.5,last=mean";
const std::vector<std::pair<double, double>> kStates = {{2, 0.5}, {0.5, 0}};

// x after those steps with this estimate of E[x0 | x, y] of each row.
Tensor two_steps(const Tensor& noise, const std::function<Tensor(const Tensor&, double)>& mean) {
  Tensor x = 2 * noise;
  for (const auto& [s, next] : kStates) x = x + (next - s) * (x - mean(x, s)) / s;
  return x;
}

// Sigma_star and mu_star as printed in Eq. (12), each row of x with its own y.
Tensor sigma_star(const MethodTestbed& bed, double s) {
  return at::linalg_inv(bed.I / (s * s) + at::matmul(bed.A.t(), bed.A) / 0.01);
}
Tensor mu_star(const MethodTestbed& bed, const Tensor& x, double s) {
  return at::matmul(x / (s * s) + at::matmul(bed.y, bed.A) / 0.01, sigma_star(bed, s));
}

TEST(Eps, StepsWithTheExactPosteriorMean) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    for (const std::string name : {"eps", "pivot", "pivot_sigma"}) {
      const auto run = bed.run(name + kTwoSteps);
      expect_close(run.x, two_steps(run.noise, [&](const Tensor& x, double s) {
                     return bed.exact_mean(x, s);
                   }));
      EXPECT_EQ(run.cost.evaluations, 2 * 3);
      EXPECT_EQ(run.cost.solves, 2 * 3);
      EXPECT_EQ(run.cost.vjps, 0);
    }
  }
}

// The same with Euler's last step in s^2, halfway from the state to its mean.
TEST(Eps, EndsHalfwayBetweenTheStateAndItsMeanAlongTheFlow) {
  const MethodTestbed bed(testbed_operators()[0]);
  const auto run = bed.run("eps" + kTwoSteps.substr(0, kTwoSteps.rfind(',')) + ",last=flow");
  const Tensor start = 2 * run.noise;
  const Tensor x = start - 1.5 * (start - bed.exact_mean(start, 2)) / 2;
  expect_close(run.x, (x + bed.exact_mean(x, 0.5)) / 2);
  EXPECT_EQ(run.cost.evaluations, 2 * 3);
}

// The standard deviation of each sample coordinate, for a posterior N(., v I): samples are m + g n
// for the initial noise n.
double deviation_of(const std::string& method, double v) {
  const double prior = 0.25, sigma_y = std::sqrt(1 / (1 / v - 1 / prior));
  const Shape shape{64, 1, 4, 4};
  const Stationary gaussian(at::zeros({1, 4, 4}, at::kDouble),
                            at::full({1, 4, 3}, prior, at::kDouble));
  const Problem problem{identity(), at::zeros({1, 1, 4, 4}, at::kDouble), scalar(sigma_y), {}};
  Rng used(5, 64), shadow(5, 64);
  const Tensor n = shadow.normal(shape);
  const Tensor x = sample_posterior(choose_method(method), gaussian, problem, shape, used).images;
  return ((x * n).sum() / n.square().sum()).item<double>();
}

// Closed forms of estimate.h; a fine grid leaves 3e-4 of the sampler's own error.
TEST(Eps, TheLastStepSetsTheSpread) {
  for (const double v : {0.01, 0.0009, 0.0001})
    for (const double s : {0.002, 0.01, 0.02}) {
      const double r = s * s / v;
      const std::string fine = fmt::format("eps:solver=heun,steps=300,sigma_min={},last=", s);
      EXPECT_NEAR(deviation_of(fine + "mean", v) / std::sqrt(v), 1 / std::sqrt(1 + r), 5e-4) << r;
      EXPECT_NEAR(
          deviation_of(fine + "flow", v) / std::sqrt(v), (1 + r / 2) / std::sqrt(1 + r), 5e-4)
          << r;
    }
}

// At sigma_y = 0.05 measured pixels have a deviation of 0.03 or so, missing ones of 0.3. What is
// left is the solver's error: 2.3% at most in 20 steps, which falls with their number.
TEST(Eps, KeepsTheSpreadByDefaultForAnyNumberOfSteps) {
  for (const auto& [steps, most] : {std::pair{10, 0.09}, {20, 0.025}, {50, 0.006}, {100, 0.006}})
    for (const double deviation : {0.03, 0.05, 0.3}) {
      const std::string method = fmt::format("eps:steps={}", steps);
      const double found = deviation_of(method, deviation * deviation);
      EXPECT_NEAR(found / deviation, 1, most) << steps << " steps, " << deviation;
    }
  // A last step to the mean: 1/sqrt(1 + 1/9) of the spread.
  for (const int steps : {20, 50, 100})
    EXPECT_NEAR(deviation_of(fmt::format("eps:last=mean,steps={}", steps), 0.0009) / 0.03,
                std::sqrt(0.9),
                0.004);
}

// Obs. 4: one evaluation at high noise, whatever that noise is.
TEST(Eps, IsThePosteriorMeanInOneStep) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    expect_close(bed.run("eps:steps=1,sigma_max=1e5").x,
                 bed.exact_mean(at::zeros({3, 16}, at::kDouble), 1e5),
                 2e-5);  // what is left of the noise: C n / sigma_max
  }
}

TEST(ZeroShotPivot, AsksThePriorAtThePivot) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const auto run = bed.run("zero_shot_pivot" + kTwoSteps);
    expect_close(run.x, two_steps(run.noise, [&](const Tensor& x, double s) {
                   return bed.D(mu_star(bed, x, s), s);
                 }));
    EXPECT_EQ(run.cost.solves, 2 * 3);
  }
}

TEST(EquivalentTime, AsksAtTheNoiseOfTheNoisiestPixel) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const auto run = bed.run("equivalent_time" + kTwoSteps);
    expect_close(run.x, two_steps(run.noise, [&](const Tensor& x, double s) {
                   const double noise = sigma_star(bed, s).diagonal().max().item<double>();
                   return bed.D(mu_star(bed, x, s), std::sqrt(noise));
                 }));
  }
}

// App. A, Equivalent-Time and GLASS Limit.
TEST(EquivalentTime, IsExactWhereTheOperatorIsIsotropic) {
  const MethodTestbed bed("identity");
  expect_close(bed.run("equivalent_time" + kTwoSteps).x, bed.run("eps" + kTwoSteps).x);
}

// Answers x + 0.1 side, so that what it was shown shows in the samples.
class Shown final : public Denoiser {
 public:
  Tensor mean(const Query& query) const override {
    EXPECT_FALSE(query.A);
    return query.x / (1 + query.sigma.square()) + 0.1 * query.side;
  }
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
    if (method != NetworkInput::palette) return {};
    return method;
  }
};

TEST(Palette, ShowsTheNetworkTheStateAndTheMeasurement) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    Rng rng(21, 3), shadow(21, 3);
    const Tensor noise = bed.rows(shadow.normal(bed.shape));
    const Samples samples = sample_posterior(
        choose_method("palette" + kTwoSteps), Shown(), bed.problem, bed.shape, rng);
    const Tensor side = bed.rows(bed.problem.A->format().picture(bed.problem.y));
    expect_close(bed.rows(samples.images), two_steps(noise, [&](const Tensor& x, double s) {
                   return x / (1 + s * s) + 0.1 * side;
                 }));
    EXPECT_EQ(samples.cost.solves, 0);
  }
}

// The paper's sampler is Euler on EDM's grid; ours must only be told so.
TEST(Eps, TakesAnySolverOnAnySchedule) {
  const MethodTestbed bed(testbed_operators()[1]);
  for (const auto& solver : solvers())
    for (const auto& [schedule, path] : schedules()) {
      SCOPED_TRACE(solver + " on " + schedule);
      auto run = bed.run("eps:last=mean,steps=4,solver=" + solver + ",schedule=" + schedule);
      const Tensor levels = time_grid(edm(), {.steps = 4, .sigma_min = 0.01, .rho = 15});
      const Tensor grid = path->time(levels);
      const Mean mean = [&, &path = *path](const Tensor& x_t, const Tensor& t) {
        const Coefficients c = path.at(t);
        return bed.images(bed.exact_mean(bed.rows(x_t / c.alpha), c.sigma().item<double>()));
      };
      const Tensor start = initial_state(*path, grid, bed.images(run.noise));
      SamplerOptions options;
      options.solver = solver;
      const Tensor expected = solve(mean, *path, start, grid, options, run.rng);
      expect_close(run.x, bed.rows(expected), 1e-7);
      const bool two = solver == "heun" || solver == "edm_churn";
      EXPECT_EQ(run.cost.evaluations, 3 * (two ? 7 : 4)) << solver;
    }
}

}  // namespace
}  // namespace eps
