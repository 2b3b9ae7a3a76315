// Samplers with exact denoisers: convergence orders, known special cases, streams, posteriors.
#include "eps/diffusion/sampler.h"

#include <gtest/gtest.h>

#include "eps/math/statistics.h"
#include "eps/operators/factories.h"
#include "eps/priors/mixture.h"
#include "tests/files.h"

namespace eps {
namespace {

const Shape kImage = {1, 4, 4};

// The solution of the ODE for a Gaussian N(0, v I): z/sqrt(v + sigma^2) is constant.
Tensor exact_endpoint(const Schedule& schedule, const Tensor& x, const Tensor& t, double v) {
  const Coefficients c = schedule.at(t);
  return x / c.alpha * std::sqrt(v) / (v + c.sigma().square()).sqrt();
}

Mean gaussian_mean(const Schedule& schedule, double v) {
  return [&schedule, v](const Tensor& x, const Tensor& t) {
    const Coefficients c = schedule.at(t);
    return v / (v + c.sigma().square()) * x / c.alpha;
  };
}

double error_of_solver(const std::string& solver,
                       const Schedule& schedule,
                       const std::string& grid_kind,
                       int64_t steps) {
  const double v = 0.3;
  Rng rng(1);
  SamplerOptions options;
  options.solver = solver;
  // sigma_min is small enough that the last step, which returns the mean, does not matter.
  options.grid = {.kind = grid_kind, .steps = steps, .sigma_min = 1e-4, .sigma_max = 20};
  const Tensor grid = time_grid(schedule, options.grid);
  const Tensor x_T = initial_state(schedule, grid, rng.normal({1, 1, 4, 4}));
  Rng again(1);
  const Tensor x = sample(gaussian_mean(schedule, v), schedule, {1, 1, 4, 4}, options, again);
  return (x - exact_endpoint(schedule, x_T, grid[0], v)).norm().item<double>() /
         x.norm().item<double>();
}

class Order : public testing::TestWithParam<std::tuple<std::string, std::string, double>> {};

// Halving the step halves a first-order error and quarters a second-order one: the slope over two
// halvings, on the grid whose steps are smooth in the variable the solver steps in.
TEST_P(Order, IsTheOneOfTheSolver) {
  const auto& [solver, schedule, order] = GetParam();
  const double coarse = error_of_solver(solver, *schedules().at(schedule), "edm", 100);
  const double fine = error_of_solver(solver, *schedules().at(schedule), "edm", 400);
  EXPECT_NEAR(std::log2(coarse / fine) / 2, order, 0.25) << coarse << " " << fine;
  EXPECT_LT(fine, order == 1 ? 0.05 : 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Solvers,
                         Order,
                         testing::Values(std::make_tuple("euler", "edm", 1.0),
                                         std::make_tuple("euler", "vp_linear", 1.0),
                                         std::make_tuple("euler", "flow", 1.0),
                                         std::make_tuple("ddim_ancestral", "vp_cosine", 1.0),
                                         std::make_tuple("heun", "edm", 2.0),
                                         std::make_tuple("heun", "vp_linear", 2.0),
                                         std::make_tuple("heun", "vp_cosine", 2.0),
                                         std::make_tuple("heun", "flow", 2.0),
                                         std::make_tuple("dpmpp_2m", "edm", 2.0),
                                         std::make_tuple("dpmpp_2m", "flow", 2.0)));

TEST(Sampler, DeterministicDdimIsEulerOnTheEdmSchedule) {
  const Mean mean = gaussian_mean(edm(), 0.3);
  const Tensor grid = time_grid(edm(), {.steps = 10});
  Rng rng(1);
  const Tensor x = initial_state(edm(), grid, rng.normal({2, 1, 4, 4}));
  const Tensor wanted = euler(mean, edm(), x, grid);
  EXPECT_TRUE(
      ddim(mean, edm(), x, grid, 0, DdimConvention::renoise, rng).allclose(wanted, 1e-10, 1e-12));
  EXPECT_TRUE(
      ddim(mean, edm(), x, grid, 0, DdimConvention::ancestral, rng).allclose(wanted, 1e-10, 1e-12));
  EXPECT_TRUE(
      edm_churn(mean, edm(), x, grid, {.second_order = false}, rng).allclose(wanted, 1e-10, 1e-12));
}

TEST(Sampler, HeunIsEdmWithoutChurn) {
  const Mean mean = gaussian_mean(edm(), 0.3);
  const Tensor grid = time_grid(edm(), {.steps = 10});
  Rng rng(1);
  const Tensor x = initial_state(edm(), grid, rng.normal({2, 1, 4, 4}));
  EXPECT_TRUE(edm_churn(mean, edm(), x, grid, {}, rng).equal(heun(mean, edm(), x, grid)));
}

TEST(Sampler, CountsTheEvaluationsOfItsPaper) {
  int64_t calls = 0;
  const Mean mean = [&](const Tensor& x, const Tensor&) {
    ++calls;
    return 0.5 * x;
  };
  const auto evaluations = [&](const std::string& solver) {
    calls = 0;
    Rng rng(1);
    SamplerOptions options;
    options.solver = solver;
    options.grid.steps = 18;
    sample(mean, edm(), {1, 1, 2, 2}, options, rng);
    return calls;
  };
  EXPECT_EQ(evaluations("euler"), 18);
  EXPECT_EQ(evaluations("heun"), 35);
  EXPECT_EQ(evaluations("edm_churn"), 35);
  EXPECT_EQ(evaluations("ddim_renoise"), 18);
  EXPECT_EQ(evaluations("ddim_ancestral"), 18);
  EXPECT_EQ(evaluations("dpmpp_2m"), 18);
  EXPECT_EQ(evaluations("ipndm"), 18);
  EXPECT_EQ(evaluations("unipc"), 18);
}

TEST(Sampler, AnImagesSampleDoesNotDependOnItsBatch) {
  const Mixture prior = example_mixture(kImage, 2, 4);
  for (const auto& solver : solvers()) {
    SamplerOptions options;
    options.solver = solver;
    options.eta = 0.8;
    options.churn.S_churn = 10;
    options.grid.steps = 8;
    Rng batch(3, 4), alone(3, std::vector<uint64_t>{2}), other(4, 4);
    const Mean mean = prior_mean(prior, edm());
    const Tensor together = sample(mean, edm(), {4, 1, 4, 4}, options, batch);
    EXPECT_TRUE(
        together[2].allclose(sample(mean, edm(), {1, 1, 4, 4}, options, alone)[0], 1e-10, 1e-10))
        << solver;
    Rng repeat(3, 4);
    EXPECT_TRUE(together.equal(sample(mean, edm(), {4, 1, 4, 4}, options, repeat))) << solver;
    EXPECT_FALSE(together.allclose(sample(mean, edm(), {4, 1, 4, 4}, options, other))) << solver;
  }
}

// The whole pipeline: a mixture prior, a measurement, the pivot, a solver; against p(x0 | y).
class Posterior : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Posterior, SamplesHaveTheExactMoments) {
  const auto& [solver, schedule_name] = GetParam();
  const Schedule& schedule = *schedules().at(schedule_name);
  const Mixture prior = example_mixture(kImage, 2, 4);
  Rng draw(5);
  const Problem problem = observe(average_pool(2), prior.sample(draw, 1), scalar(0.2), draw);
  const std::set<std::string> first_order = {"euler", "edm_churn", "ddim_ancestral"};
  SamplerOptions options;
  options.solver = solver;
  options.eta = 1;
  options.churn.S_churn = 40;
  options.grid = {.kind = "log_sigma",
                  .steps = first_order.contains(solver) ? 300 : 60,
                  .sigma_min = 0.002,
                  .sigma_max = 300};
  const int64_t n = 2000;
  Rng rng(6, n);
  const Tensor samples =
      sample(posterior_mean(prior, problem, schedule), schedule, {n, 1, 4, 4}, options, rng);
  const Mixture posterior = prior.posterior(problem);
  const MomentTest moments = test_moments(samples, posterior.mean(), posterior.covariance());
  EXPECT_LT(std::abs(moments.mean_z), 5);
  EXPECT_LT(moments.covariance_z, 5);
}

INSTANTIATE_TEST_SUITE_P(Solvers,
                         Posterior,
                         testing::Combine(testing::Values("euler",
                                                          "heun",
                                                          "edm_churn",
                                                          "ddim_ancestral",
                                                          "dpmpp_2m",
                                                          "ipndm",
                                                          "unipc"),
                                          testing::Values("edm", "vp_linear", "flow")));

// For a Gaussian N(0, v) each DDIM step is linear, so the variance of its output follows a
// recursion. The renoise convention misses v when eta > 0, by exactly what the recursion says.
double ddim_variance(double v, const Tensor& grid, double eta, DdimConvention convention) {
  const auto* sigma = grid.data_ptr<double>();
  const int64_t last = grid.numel() - 2;  // the one before 0
  double variance = sigma[0] * sigma[0];
  for (int64_t i = 0; i < last; ++i) {
    const double s = sigma[i], next = sigma[i + 1], gain = v / (v + s * s);
    const double fresh = convention == DdimConvention::renoise
                             ? eta * next
                             : eta * next * std::sqrt(1 - next * next / (s * s));
    const double factor = gain + std::sqrt(next * next - fresh * fresh) * (1 - gain) / s;
    variance = factor * factor * variance + fresh * fresh;
  }
  return variance * std::pow(v / (v + sigma[last] * sigma[last]), 2);
}

class Ddim : public testing::TestWithParam<DdimConvention> {};

TEST_P(Ddim, VarianceFollowsItsRecursion) {
  const double v = 0.3, eta = 0.7;
  const Tensor grid = time_grid(edm(), {.steps = 12});
  const double variance = ddim_variance(v, grid, eta, GetParam());
  Rng rng(8);
  const int64_t n = 200000;
  const Tensor x = initial_state(edm(), grid, rng.normal({n, 1, 1, 1}));
  const Tensor samples = ddim(gaussian_mean(edm(), v), edm(), x, grid, eta, GetParam(), rng);
  EXPECT_NEAR(samples.square().mean().item<double>() / variance, 1, 5 * std::sqrt(2.0 / n));
}

INSTANTIATE_TEST_SUITE_P(Conventions,
                         Ddim,
                         testing::Values(DdimConvention::renoise, DdimConvention::ancestral));

TEST(DdimConventions, OnlyTheAncestralOneHasTheRightLimit) {
  const Tensor grid = time_grid(edm(), {.steps = 10000});
  for (const auto& [eta, share] : {std::pair{0.0, 0.999}, {0.5, 0.932}, {0.7, 0.856}, {1.0, 0.5}}) {
    EXPECT_NEAR(ddim_variance(0.3, grid, eta, DdimConvention::renoise) / 0.3, share, 5e-4) << eta;
    EXPECT_NEAR(ddim_variance(0.3, grid, eta, DdimConvention::ancestral) / 0.3, 0.999, 5e-4) << eta;
  }
}

TEST(Sampler, RefusesOptionsThatItsSolverDoesNotUse) {
  const auto check_options = [](const char* solver, double eta, double churn) {
    SamplerOptions options;
    options.solver = solver;
    options.eta = eta;
    options.churn.S_churn = churn;
    check_solver_options(options, "--");
  };
  EXPECT_EQ(error_of([&] { check_options("heun", 0.5, 0); }),
            "--eta: the solver heun takes no fresh noise; wanted ddim_renoise or ddim_ancestral");
  EXPECT_EQ(error_of([&] { check_options("ddim_renoise", 1, 5); }),
            "--churn: the solver ddim_renoise takes no churn; wanted edm_churn");
  EXPECT_NO_THROW(check_options("ddim_renoise", 1, 0));
  EXPECT_NO_THROW(check_options("ddim_ancestral", 1, 0));
  EXPECT_NO_THROW(check_options("edm_churn", 0, 5));
}

TEST(Sampler, RefusesUnknownSolvers) {
  SamplerOptions options;
  options.solver = "rk45";
  Rng rng(1);
  EXPECT_EQ(error_of([&] {
              sample(gaussian_mean(edm(), 1), edm(), {1, 1, 2, 2}, options, rng);
            }),
            "unknown solver \"rk45\", wanted one of euler, heun, edm_churn, ddim_renoise, "
            "ddim_ancestral, dpmpp_2m, ipndm, unipc");
}

}  // namespace
}  // namespace eps
