// Exact priors: their denoisers and posteriors against each other and against dense algebra.
#include <gtest/gtest.h>

#include "eps/math/statistics.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "eps/priors/mixture.h"
#include "eps/priors/stationary.h"
#include "tests/files.h"

namespace eps {
namespace {

// Thm. 1 with nothing of it on the other side: E[x0 | x_t, y] is also the plain denoiser of p(x0 |
// y).
TEST(Mixture, PivotDenoiserEqualsTheDenoiserOfThePosterior) {
  Rng rng(1);
  const Mixture prior = example_mixture({3, 8, 8}, 3, 5);
  for (const std::string spec : {"inpaint_random:missing=0.6",
                                 "super_resolution:factor=2",
                                 "blur_motion:length=5,angle=20",
                                 "hadamard",
                                 "grey"}) {
    const Operator A = make_operator(spec, at::empty({1, 3, 8, 8}, at::kDouble), rng);
    const Problem problem = observe(A, prior.sample(rng, 1), scalar(0.1), rng);
    const Mixture posterior = prior.posterior(problem);
    for (const double sigma : {0.05, 0.5, 20.0}) {
      const Coefficients c = edm().at(scalar(sigma));
      const Tensor x_t = sigma * rng.normal({4, 3, 8, 8});
      EXPECT_TRUE(prior.mean(pivot_query(problem, x_t, c))
                      .allclose(posterior.mean(prior_query(x_t, c)), 1e-6, 1e-6))
          << spec << " " << sigma;
    }
  }
}

TEST(Mixture, OneComponentIsTheGaussianFormula) {
  Rng rng(1);
  const Tensor factor = rng.normal({12, 12});
  const Tensor covariance = at::matmul(factor, factor.t());
  const Tensor m = rng.normal({1, 3, 2, 2});
  const Mixture prior(at::ones({1}), m, covariance.unsqueeze(0));
  const Tensor x = rng.normal({5, 3, 2, 2});
  const Tensor total = covariance + 0.25 * at::eye(12, at::kDouble);
  const Tensor wanted =
      m.flatten() + at::matmul(at::linalg_solve(total, (x - m).flatten(1).t()).t(), covariance);
  EXPECT_TRUE(prior.mean(Query{x, scalar(0.5), nullptr, {}}).flatten(1).allclose(wanted));
}

// Eq. (9): D_Sigma(mu) = mu + Sigma grad log p^Sigma(mu), with p^Sigma the mixture whose
// covariances have Sigma_star added, and its gradient by central differences.
TEST(Mixture, AnisotropicTweedieHolds) {
  Rng rng(1);
  const Shape image{1, 1, 4, 4};
  const Tensor weights = at::tensor({0.3, 0.7}, at::kDouble), means = rng.normal({2, 1, 4, 4});
  const Tensor factor = rng.normal({2, 16, 16}) / 4;
  const Tensor covariances =
      at::matmul(factor, factor.transpose(1, 2)) + 0.1 * at::eye(16, at::kDouble);
  const Operator A =
      make_operator("inpaint_random:missing=0.5", at::empty(image, at::kDouble), rng);
  const auto sigma_star = [&](const Tensor& v) {
    return pivot_covariance(*A, scalar(0.2), scalar(1.5), v);
  };
  const Tensor sigma = matrix_of(sigma_star, image, 1, at::kDouble);
  const Mixture smoothed(weights, means, covariances + sigma);
  const Tensor mu = rng.normal(image);
  const Tensor steps = 1e-4 * at::eye(16, at::kDouble).reshape({16, 1, 4, 4});
  const Tensor gradient =
      (smoothed.log_density(mu + steps) - smoothed.log_density(mu - steps)) / 2e-4;
  const Tensor wanted = mu.flatten() + at::matmul(sigma[0], gradient);
  const Tensor found =
      Mixture(weights, means, covariances).mean(Query{mu, scalar(1.5), A, scalar(0.2)});
  EXPECT_TRUE(found.flatten().allclose(wanted, 1e-6, 1e-6));
}

// Different masks, sigmas and noise levels in one batch: each image gets its own answer.
TEST(Mixture, AnswersPerSampleQueries) {
  Rng rng(1, 3);
  const Mixture prior = example_mixture({1, 4, 4}, 2, 5);
  const Tensor x = Rng(2).normal({3, 1, 4, 4});
  const Operator A = make_operator("inpaint_random:missing=0.5", x, rng);
  const Tensor sigma = at::tensor({0.1, 1.0, 10.0}, at::kDouble).reshape({3, 1, 1, 1});
  const Tensor together = prior.mean(Query{x, sigma, A, scalar(0.05)});
  for (int64_t n = 0; n < 3; ++n) {
    const Operator own =
        inpainting(A->format().parameters().at("mask").slice(0, n, n + 1).unsqueeze(1));
    const Tensor alone =
        prior.mean(Query{x.slice(0, n, n + 1), sigma[n][0][0][0], own, scalar(0.05)});
    EXPECT_TRUE(alone[0].allclose(together[n], 1e-9, 1e-9));
  }
}

TEST(Mixture, SamplesHaveItsMoments) {
  Rng rng(1);
  const Mixture prior = example_mixture({1, 4, 4}, 3, 5);
  const MomentTest moments =
      test_moments(prior.sample(rng, 20000), prior.mean(), prior.covariance());
  EXPECT_LT(std::abs(moments.mean_z), 5);
  EXPECT_LT(moments.covariance_z, 5);
}

// The density integrates to one: importance weights p(x)/q(x) under a wider Gaussian q average
// to 1.
TEST(Mixture, LogDensityIsNormalised) {
  const Mixture prior = example_mixture({1, 1, 2}, 2, 5);
  const Tensor x = 3 * Rng(1).normal({200000, 1, 1, 2});
  const Tensor log_q =
      -0.5 * (x.flatten(1) / 3).square().sum(1) - 2 * std::log(3.0) - std::log(2 * M_PI);
  const Tensor weight = (prior.log_density(x) - log_q).exp();
  EXPECT_NEAR(
      weight.mean().item<double>(), 1, 5 * (weight.std() / std::sqrt(200000.0)).item<double>());
}

// A stationary prior is a dense Gaussian with a circulant covariance.
class StationaryOperators : public testing::TestWithParam<std::string> {};

TEST_P(StationaryOperators, DenoiserEqualsTheDenseGaussian) {
  Rng rng(1);
  const Shape image{1, 2, 8, 6};
  const Tensor m = rng.normal({2, 8, 6}), spectrum = natural_spectrum(8, 6).expand({2, -1, -1});
  const Stationary prior(m, spectrum);
  const auto covariance = [&](const Tensor& v) {
    return at::fft_irfft2(at::fft_rfft2(v) * spectrum.unsqueeze(0), at::IntArrayRef({8, 6}));
  };
  const Mixture dense(at::ones({1}), m.unsqueeze(0), matrix_of(covariance, image, 1, at::kDouble));
  const Tensor x = rng.normal({3, 2, 8, 6});
  const Operator A =
      GetParam().empty() ? nullptr : make_operator(GetParam(), at::empty(image, at::kDouble), rng);
  for (const double sigma : {0.02, 1.0, 80.0}) {
    const Query query{x, scalar(sigma), A, scalar(0.05)};
    EXPECT_TRUE(prior.mean(query).allclose(dense.mean(query), 1e-6, 1e-7)) << sigma;
  }
}

INSTANTIATE_TEST_SUITE_P(Specs,
                         StationaryOperators,
                         testing::Values("",
                                         "identity",
                                         "blur_gaussian:std=1,size=5",
                                         "fourier_lines:acceleration=2,center=0.2",
                                         "inpaint_random:missing=0.5",
                                         "super_resolution:factor=2"));

TEST(Stationary, PosteriorEqualsTheDenseGaussian) {
  Rng rng(1);
  const Tensor m = rng.normal({1, 8, 8}), spectrum = natural_spectrum(8, 8);
  const Stationary prior(m, spectrum);
  const auto filter = [](const Tensor& s) {
    return [s](const Tensor& v) {
      return at::fft_irfft2(at::fft_rfft2(v) * s, at::IntArrayRef({8, 8}));
    };
  };
  const Mixture dense(
      at::ones({1}), m.unsqueeze(0), matrix_of(filter(spectrum), {1, 1, 8, 8}, 1, at::kDouble));
  const Operator A =
      make_operator("blur_motion:length=5,angle=30", at::empty({1, 1, 8, 8}, at::kDouble), rng);
  const Problem problem = observe(A, prior.sample(rng, {1, 1, 8, 8}), scalar(0.05), rng);
  const Stationary::Posterior posterior = prior.posterior(problem);
  const Mixture wanted = dense.posterior(problem);
  EXPECT_TRUE(posterior.mean[0].allclose(wanted.mean(), 1e-8, 1e-8));
  EXPECT_TRUE(matrix_of(filter(posterior.spectrum), {1, 1, 8, 8}, 1, at::kDouble)[0].allclose(
      wanted.covariance(), 1e-7, 1e-9));
}

TEST(Stationary, NaturalSpectrumHasTheVarianceOfImages) {
  const Stationary prior(at::zeros({1, 32, 32}), natural_spectrum(32, 32));
  Rng rng(1);
  const Tensor samples = prior.sample(rng, {400, 1, 32, 32});
  // Per-sample variances are independent: 5 standard errors of their mean.
  const Tensor variance = samples.square().mean({1, 2, 3});
  EXPECT_NEAR(variance.mean().item<double>(), 0.25, 5 * (variance.std() / 20).item<double>());
}

TEST(Stationary, RefusesASpectrumWithZeros) {
  const std::string message = error_of([] {
    Stationary(at::zeros({1, 4, 4}), at::zeros({1, 4, 3}));
  });
  EXPECT_EQ(message, "Stationary: the spectrum must be > 0, its least value is 0");
}

TEST(Statistics, AcceptTheRightLawAndRejectWrongOnes) {
  const Tensor z = Rng(9).normal({5000, 20});
  EXPECT_LT(std::abs(test_whitened(z).mean_z), 5);
  EXPECT_LT(test_whitened(z).covariance_z, 5);
  EXPECT_GT(test_whitened(z + 0.05).mean_z, 5);
  EXPECT_GT(test_whitened(1.03 * z).covariance_z, 5);
  // Correlated numbers of the right total variance.
  const Tensor mixed = (z + 0.5 * z.roll({1}, {1})) / std::sqrt(1.25);
  EXPECT_GT(test_whitened(mixed).covariance_z, 5);
}

}  // namespace
}  // namespace eps
