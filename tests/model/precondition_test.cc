// Preconditioning: the coefficients of Karras et al. 2022, Table 1, and how denoise() uses them.
#include <gtest/gtest.h>

#include <cmath>

#include "eps/model/preconditioned_query.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

using Kind = Preconditioning::Kind;

std::vector<double> numbers(const Preconditioning& p, double sigma) {
  const auto c = coefficients(p, scalar(sigma));
  return {c.c_skip.item<double>(),
          c.c_out.item<double>(),
          c.c_in.item<double>(),
          c.c_noise.item<double>()};
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& wanted) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(actual[i], wanted[i], 1e-6 * std::abs(wanted[i])) << "coefficient " << i;
  }
}

TEST(Precondition, EdmsCoefficients) {
  expect_near(numbers({}, 0.5), {0.5, 0.5 / std::sqrt(2), std::sqrt(2), std::log(0.5) / 4});
  expect_near(numbers({}, 80),
              {0.25 / 6400.25, 40 / std::sqrt(6400.25), 1 / std::sqrt(6400.25), std::log(80) / 4});
}

// At t = 0.3 the noise level is sqrt(exp(19.9 0.09 / 2 + 0.03) - 1), and c_noise 999 t.
TEST(Precondition, VpsCoefficients) {
  const double sigma = std::sqrt(std::exp(0.5 * 19.9 * 0.09 + 0.1 * 0.3) - 1);
  const Preconditioning vp{.kind = Kind::vp};
  expect_near(numbers(vp, sigma), {1, -sigma, 1 / std::sqrt(sigma * sigma + 1), 999 * 0.3});
  EXPECT_NEAR(vp.sigma_max(), std::sqrt(std::exp(10.05) - 1), 1e-9);
  EXPECT_NEAR(vp.sigma_min(), std::sqrt(std::expm1(0.5 * 19.9 * 1e-10 + 1e-6)), 1e-9);
}

TEST(Precondition, VesCoefficients) {
  const Preconditioning ve{.kind = Kind::ve};
  expect_near(numbers(ve, 3), {1, 3, 1, std::log(1.5)});
  EXPECT_EQ(ve.sigma_min(), 0.02);
  EXPECT_EQ(ve.sigma_max(), 100);
}

// The recursion telescopes: u_j^2 + 1 = alpha_bar(M) / alpha_bar(j) for j >= 1, while the last
// ratio, which is 0, is replaced by C_1.
TEST(Precondition, IddpmsNoiseLevelsTelescope) {
  const Preconditioning iddpm{.kind = Kind::iddpm};
  const Tensor u = iddpm_noise_levels(iddpm);
  ASSERT_EQ(u.size(0), 1001);
  const auto sine = [](double j) { return std::sin(std::acos(-1.0) / 2 * j / 1000 / 1.008); };
  for (const int64_t j : {1, 2, 10, 500, 999, 1000}) {
    const double ratio = sine(1000) / sine(static_cast<double>(j));
    EXPECT_NEAR(u[j].item<double>(), std::sqrt(ratio * ratio - 1), 1e-8 * ratio) << j;
  }
  const double first = u[1].item<double>();
  EXPECT_NEAR(u[0].item<double>(), std::sqrt((first * first + 1) * 1000 - 1), 1e-4);
  EXPECT_EQ(iddpm.sigma_min(), u[999].item<double>());
  EXPECT_EQ(iddpm.sigma_max(), u[0].item<double>());
}

TEST(Precondition, IddpmsNoiseLabelIsTheNearestStep) {
  const Preconditioning iddpm{.kind = Kind::iddpm};
  const Tensor u = iddpm_noise_levels(iddpm);
  const Tensor between = u[400] * 0.9 + u[401] * 0.1;
  EXPECT_EQ(coefficients(iddpm, between).c_noise.item<double>(), 999 - 400);
  EXPECT_FLOAT_EQ(rounded_sigma(iddpm, between).item<float>(), u[400].item<float>());
  EXPECT_TRUE(rounded_sigma(Preconditioning{}, between).equal(between));
  const double sigma = between.item<double>();
  expect_near(numbers(iddpm, sigma), {1, -sigma, 1 / std::sqrt(sigma * sigma + 1), 599});
}

// With equal betas sigma_t^2 + 1 = (1 - beta)^-(t + 1), and half a step is the geometric mean.
TEST(Precondition, StepsOfADiscreteProcessAreLinearInLogSigma) {
  Preconditioning p{.kind = Kind::discrete, .M = 50, .beta_start = 0.05, .beta_end = 0.05};
  const auto sigma = [](int t) { return std::sqrt(std::pow(0.95, -(t + 1)) - 1); };
  EXPECT_NEAR(p.sigma_min(), sigma(0), 1e-12);
  EXPECT_NEAR(p.sigma_max(), sigma(49), 1e-12);
  for (const int t : {0, 1, 7, 48, 49})
    expect_near(numbers(p, sigma(t)),
                {1, -sigma(t), 1 / std::sqrt(sigma(t) * sigma(t) + 1), static_cast<double>(t)});
  p.label_scale = 0.25;
  EXPECT_NEAR(numbers(p, std::sqrt(sigma(7) * sigma(8)))[3], 7.5 / 4, 1e-6);
  EXPECT_EQ(numbers(p, sigma(0) / 2)[3], 0);
  EXPECT_EQ(numbers(p, sigma(49) * 2)[3], 49.0 / 4);
}

TEST(Precondition, RatesOfDiscreteProcesses) {
  const auto power = [](const Preconditioning& p, int64_t t) {
    return 1 / (1 + discrete_noise_levels(p)[t].square().item<double>());
  };
  EXPECT_NEAR(power({.kind = Kind::discrete}, 0), 1 - 1e-4, 1e-12);
  EXPECT_NEAR(power({.kind = Kind::discrete}, 1), (1 - 1e-4) * (1 - 1e-4 - 0.0199 / 999), 1e-12);
  const Preconditioning scaled{.kind = Kind::discrete,
                               .M = 3,
                               .beta_schedule = "scaled_linear",
                               .beta_start = 0.01,
                               .beta_end = 0.09};
  EXPECT_NEAR(power(scaled, 2), 0.99 * 0.96 * 0.91, 1e-12);
  // The ratios of the cosine telescope; the last one is cut.
  const Preconditioning cosine{.kind = Kind::discrete, .beta_schedule = "cosine"};
  const auto share = [](double t) { return std::pow(std::cos((t + 8) / 1008 * std::acos(0)), 2); };
  EXPECT_NEAR(power(cosine, 499), share(500) / share(0), 1e-12);
  EXPECT_NEAR(power(cosine, 999) / power(cosine, 998), 0.001, 1e-9);
  const Preconditioning table{
      .kind = Kind::discrete, .M = 2, .beta_schedule = "table", .betas = {0.5, 0.2}};
  EXPECT_NEAR(power(table, 1), 0.4, 1e-12);
}

// Whatever a network predicts of x0 + sigma n, exact predictions give x0.
TEST(Precondition, PredictionsOfEveryKindGiveTheImage) {
  const Tensor x0 = waves({2, 3, 4, 4}), n = waves({2, 3, 4, 4}).flip(0) * 0.7;
  const double sigma = 1.3, alpha = 1 / std::sqrt(1 + sigma * sigma), beta = sigma * alpha;
  for (const auto& [prediction, answer] :
       {std::pair{"epsilon", n}, {"sample", x0}, {"v", alpha * n - beta * x0}}) {
    const Preconditioning p{.kind = Kind::discrete, .prediction = prediction};
    const PreconditionedQuery query(p, {x0 + sigma * n, scalar(sigma)});
    EXPECT_LT(relative_error(query.mean(answer), x0), 1e-6) << prediction;
    EXPECT_LT(relative_error(query.target(x0), answer), 1e-5) << prediction;
    EXPECT_LT(relative_error(query.input(), alpha * x0 + beta * n), 1e-6) << prediction;
  }
}

TEST(Precondition, EdmsRangeIsUnboundedUnlessGiven) {
  EXPECT_EQ(Preconditioning{}.sigma_min(), 0);
  EXPECT_EQ(Preconditioning{}.sigma_max(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Preconditioning{.sigma_upper = 80}.sigma_max(), 80);
}

TEST(Precondition, DenoiserIsTheCombinationOfInputAndNetwork) {
  const nets::UNet network = wave_network(small_adm());
  const Tensor x = waves({2, 3, 8, 8}, at::kDouble);
  const Tensor sigma = at::tensor({0.1, 7.0}, at::kDouble);
  const Tensor labels = at::eye(10).slice(0, 0, 2);
  const Tensor s = sigma.reshape({2, 1, 1, 1}).to(at::kFloat);
  for (const Kind kind : {Kind::edm, Kind::vp, Kind::ve, Kind::iddpm}) {
    const Preconditioning p{.kind = kind};
    const auto c = coefficients(p, s);
    const Tensor image = x.to(at::kFloat);
    const Tensor answer = network.forward(image * c.c_in, c.c_noise.flatten(), labels);
    const Tensor mean = denoise(network, p, x, sigma, {.labels = labels});
    EXPECT_LT(relative_error(mean, image * c.c_skip + answer * c.c_out), 1e-6);
    EXPECT_EQ(mean.scalar_type(), at::kFloat);
    EXPECT_TRUE(mean.equal(denoise(network, p, x, s, {.labels = labels})));
  }
}

// Of a network that also predicts a variance only the first half of the answer counts.
TEST(Precondition, AVarianceInTheOutputIsDropped) {
  nets::UNetConfig config = small_adm();
  config.out_channels = 6;
  const nets::UNet network = wave_network(config);
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor sigma = at::tensor({0.1, 7.0}, at::kFloat);
  const Preconditioning p{.kind = Kind::iddpm};
  const auto c = coefficients(p, sigma.reshape({2, 1, 1, 1}));
  const Tensor answer = network.forward(x * c.c_in, c.c_noise.flatten());
  EXPECT_EQ(answer.size(1), 6);
  EXPECT_TRUE(denoise(network, p, x, sigma).equal(x * c.c_skip + answer.slice(1, 0, 3) * c.c_out));
}

TEST(Precondition, SideChannelsArePassedOnAsTheyAre) {
  nets::UNetConfig config = small_ddpmpp();
  config.in_channels = 5;
  const nets::UNet network = wave_network(config);
  const Tensor x = waves({2, 3, 8, 8});
  const Tensor side = waves({2, 2, 8, 8}) * 3;
  const Tensor sigma = at::full({1}, 40.0);
  const auto c = coefficients({}, sigma.reshape({1, 1, 1, 1}));
  const Tensor answer = network.forward(at::cat({x * c.c_in, side}, 1), c.c_noise.flatten());
  EXPECT_TRUE(
      denoise(network, {}, x, sigma, {.side = side}).equal(x * c.c_skip + answer * c.c_out));
}

TEST(Precondition, LabelsDoNotReachAnUnconditionalNetwork) {
  const nets::UNet network = wave_network(small_ddpmpp());
  const Tensor x = waves({2, 3, 8, 8});
  EXPECT_TRUE(denoise(network, {}, x, scalar(2), {.labels = at::ones({2, 10})})
                  .equal(denoise(network, {}, x, scalar(2))));
}

TEST(Precondition, WrongShapesAreNamed) {
  const nets::UNet network = wave_network(small_ddpmpp());
  EXPECT_EQ(error_of([&] {
              denoise(network, {}, waves({2, 1, 8, 8}), scalar(1));
            }),
            "denoise: x must be N x 3 x H x W, got 2 x 1 x 8 x 8");
  EXPECT_EQ(error_of([&] {
              denoise(network, {}, waves({2, 3, 8, 8}), at::ones({3}));
            }),
            "denoise: one sigma or one per image is wanted, got 3 for 2 images");
}

}  // namespace
}  // namespace eps
