// Interpolants, conversions and grids against their definitions.
#include "eps/diffusion/schedule.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "tests/files.h"

namespace eps {
namespace {

class Interpolant : public testing::TestWithParam<std::string> {
 protected:
  const Schedule& schedule() const { return *schedules().at(GetParam()); }
};

TEST_P(Interpolant, StartsAtTheData) {
  const Coefficients c = schedule().at(scalar(1e-12));
  EXPECT_NEAR(c.alpha.item<double>(), 1, 1e-6);
  EXPECT_NEAR(c.beta.item<double>(), 0, 1e-5);
}

TEST_P(Interpolant, DerivativesAreDerivatives) {
  for (const double sigma : {0.002, 0.1, 1.0, 10.0, 80.0}) {
    const Tensor t = schedule().time(scalar(sigma));
    const Tensor h = 1e-4 * t;
    const Coefficients c = schedule().at(t), low = schedule().at(t - h),
                       high = schedule().at(t + h);
    EXPECT_NEAR(c.dalpha.item<double>(),
                ((high.alpha - low.alpha) / (2 * h)).item<double>(),
                1e-6 * std::abs(c.dalpha.item<double>()) + 1e-7);
    EXPECT_NEAR(c.dbeta.item<double>(),
                ((high.beta - low.beta) / (2 * h)).item<double>(),
                1e-6 * std::abs(c.dbeta.item<double>()) + 1e-7);
  }
}

TEST_P(Interpolant, TimeInvertsSigma) {
  for (const double sigma : {0.002, 0.1, 1.0, 10.0, 80.0})
    EXPECT_NEAR(
        schedule().at(schedule().time(scalar(sigma))).sigma().item<double>() / sigma, 1, 1e-9)
        << sigma;
}

// sigma(t)^2 = exp(B) - 1 with B = t (beta_min + beta_d t/2), in numbers of more digits.
TEST(VpRate, IsAccurateAtSmallTimes) {
  const VpRate rate;
  for (const double t : {1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0}) {
    const long double T = t, B = T * (static_cast<long double>(rate.beta_min) +
                                      0.5L * static_cast<long double>(rate.beta_d) * T);
    const auto sigma = static_cast<double>(std::sqrt(std::expm1(B)));
    EXPECT_NEAR(rate.sigma(scalar(t)).item<double>() / sigma, 1, 1e-15) << t;
    EXPECT_NEAR(rate.time(scalar(sigma)).item<double>() / t, 1, 2e-15) << t;
    EXPECT_NEAR(vp_linear().at(scalar(t)).sigma().item<double>() / sigma, 1, 1e-15) << t;
  }
}

TEST_P(Interpolant, VariancePreservingOnesPreserveVariance) {
  if (GetParam().rfind("vp", 0) != 0) return;
  for (const double t : {0.01, 0.3, 0.9}) {
    const Coefficients c = schedule().at(scalar(t));
    EXPECT_NEAR((c.alpha.square() + c.beta.square()).item<double>(), 1, 1e-12);
  }
}

// At x_t = alpha x0 + beta n with the mean at x0, everything is known: noise n, score -n/beta,
// velocity dalpha x0 + dbeta n. And each conversion takes the mean back.
TEST_P(Interpolant, ConversionsAgreeWithTheDefinitions) {
  Rng rng(1);
  const Tensor x0 = rng.normal({2, 3}), n = rng.normal({2, 3});
  for (const double sigma : {0.05, 1.0, 20.0}) {
    const Coefficients c = schedule().at(schedule().time(scalar(sigma)));
    const Tensor x_t = c.alpha * x0 + c.beta * n;
    EXPECT_TRUE(noise_from_mean(x_t, x0, c).allclose(n, 1e-9, 1e-9));
    EXPECT_TRUE(score_from_mean(x_t, x0, c).allclose(-n / c.beta, 1e-9, 1e-9));
    const Tensor v = velocity_from_mean(x_t, x0, c);
    EXPECT_TRUE(v.allclose(c.dalpha * x0 + c.dbeta * n, 1e-9, 1e-9));
    EXPECT_TRUE(mean_from_noise(x_t, n, c).allclose(x0, 1e-9, 1e-9));
    EXPECT_TRUE(mean_from_score(x_t, -n / c.beta, c).allclose(x0, 1e-8, 1e-8));
    EXPECT_TRUE(mean_from_velocity(x_t, v, c).allclose(x0, 1e-8, 1e-8));
  }
}

TEST_P(Interpolant, GridsRunDownFromSigmaMaxToZero) {
  for (const std::string kind : {"edm", "log_sigma", "uniform"}) {
    const Tensor grid = time_grid(schedule(), {.kind = kind, .steps = 12});
    ASSERT_EQ(grid.numel(), 13);
    EXPECT_NEAR(schedule().at(grid[0]).sigma().item<double>(), 80, 1e-6);
    EXPECT_EQ(grid[12].item<double>(), 0);
    EXPECT_TRUE((grid.slice(0, 1) < grid.slice(0, 0, 12)).all().item<bool>()) << kind;
    const double last = schedule().at(grid[11]).sigma().item<double>();
    EXPECT_TRUE(kind == "uniform" || std::abs(last - 0.002) < 1e-8) << kind << " " << last;
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Interpolant,
                         testing::Values("edm", "vp_linear", "vp_cosine", "flow"),
                         [](const auto& info) { return info.param; });

TEST(Grid, IsTheOneOfEdm) {
  const Tensor grid = time_grid(edm(), {.steps = 18});
  const double high = std::pow(80, 1 / 7.0), low = std::pow(0.002, 1 / 7.0);
  for (int i = 0; i < 18; ++i)
    EXPECT_NEAR(grid[i].item<double>(), std::pow(high + i / 17.0 * (low - high), 7), 1e-10);
}

TEST(Grid, OneStepStartsAtSigmaMax) {
  EXPECT_TRUE(
      time_grid(edm(), {.steps = 1}).allclose(at::tensor({80.0, 0.0}, at::kDouble), 1e-13, 0));
}

TEST(Grid, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of([] { time_grid(edm(), {.steps = 0}); }),
            "grid: steps must be at least 1, got 0");
  EXPECT_EQ(error_of([] { time_grid(edm(), {.kind = "linear"}); }),
            "unknown grid \"linear\"; wanted edm, log_sigma or uniform");
}

}  // namespace
}  // namespace eps
