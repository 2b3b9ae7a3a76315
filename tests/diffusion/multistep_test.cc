// Multistep samplers: the weights of their polynomials, and their orders.
#include "eps/diffusion/multistep.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/diffusion/sampler.h"

namespace eps {
namespace {

// Exact for polynomials of a degree below the number of nodes, and Adams's and Bashforth's numbers
// for equal steps.
TEST(LagrangeIntegrals, AreExactForPolynomials) {
  const std::vector<double> nodes = {0.7, 1.1, 1.9, 3.2};
  const std::vector<double> w = lagrange_integrals(nodes, 0.7, 0.2);
  for (int degree = 0; degree < 4; ++degree) {
    double sum = 0;
    for (size_t j = 0; j < nodes.size(); ++j) sum += w[j] * std::pow(nodes[j], degree);
    const double wanted = (std::pow(0.2, degree + 1) - std::pow(0.7, degree + 1)) / (degree + 1);
    EXPECT_NEAR(sum, wanted, 1e-13) << degree;
  }
  const std::vector<double> equal = lagrange_integrals({0, -1, -2, -3}, 0, 1);
  const std::vector<double> published = {55 / 24.0, -59 / 24.0, 37 / 24.0, -9 / 24.0};
  for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(equal[j], published[j], 1e-13);
}

// The flow of N(0, 0.3 I), along which z/sqrt(0.3 + s^2) is constant. Steps are equal in ln s, so
// that those of UniPC are, from s = 20, where an estimate hardly matters, so that neither do the
// first steps, which are of lower order.
double flow_error(const std::string& solver, int64_t steps) {
  const double v = 0.3;
  const Tensor grid =
      time_grid(edm(), {.kind = "log_sigma", .steps = steps, .sigma_min = 0.02, .sigma_max = 200});
  const Mean mean = [&](const Tensor& x, const Tensor& t) { return v / (v + t.square()) * x; };
  // The mean at the last level, from which the error of the last state follows.
  const auto state_of = [&](const Tensor& D) { return D * ((v + 0.02 * 0.02) / v); };
  Rng rng(1);
  SamplerOptions options;
  options.solver = solver;
  const Tensor x = at::full({1, 1, 1, 1}, 200.0, at::kDouble);
  const Tensor z = state_of(solve(mean, edm(), x, grid, options, rng));
  const double wanted = 200 * std::sqrt((v + 0.02 * 0.02) / (v + 200.0 * 200));
  return std::abs(z.item<double>() / wanted - 1);
}

// Halving the steps divides the error by two to the order.
TEST(Multistep, HasItsOrder) {
  for (const auto& [solver, order] : {std::pair{"dpmpp_2m", 2.0}, {"ipndm", 4.0}, {"unipc", 3.0}}) {
    const double coarse = flow_error(solver, 100), fine = flow_error(solver, 200);
    EXPECT_GT(std::log2(coarse / fine), order - 0.35) << solver << " " << coarse << " " << fine;
    EXPECT_LT(std::log2(coarse / fine), order + 1.35) << solver << " " << coarse << " " << fine;
  }
}

// At the few steps that networks are given, a higher order has a smaller error.
TEST(Multistep, HigherOrdersPayAtFewSteps) {
  for (const int64_t steps : {20, 30}) {
    EXPECT_LT(flow_error("unipc", steps), flow_error("dpmpp_2m", steps)) << steps;
    EXPECT_LT(flow_error("dpmpp_2m", steps), flow_error("euler", steps)) << steps;
  }
}

// One step is the mean at the first level.
TEST(Multistep, OfOneStepIsTheMean) {
  const Tensor grid = time_grid(edm(), {.steps = 1});
  const Tensor x = at::full({1, 1, 2, 2}, 3.0, at::kDouble);
  const Mean half = [](const Tensor& state, const Tensor&) { return state / 2; };
  EXPECT_TRUE(ipndm(half, edm(), x, grid).equal(x / 2));
  EXPECT_TRUE(unipc(half, edm(), x, grid).equal(x / 2));
}

}  // namespace
}  // namespace eps
