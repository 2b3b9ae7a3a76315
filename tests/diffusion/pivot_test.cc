// Theorem 1 and its consequences, operator by operator where they hold for all.
#include "eps/diffusion/pivot.h"

#include <gtest/gtest.h>

#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "eps/verify/contract.h"

namespace eps {
namespace {

// Colour where channels are mixed; small elsewhere, as these tests use dense matrices.
Shape image_for(const std::string& spec) {
  return {1, channels_of(spec, mixes_channels(spec) ? 3 : 1), 8, 8};
}

std::vector<std::string> example_specs() {
  std::vector<std::string> specs;
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) specs.push_back(entry.example);
  specs.push_back("blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5");
  specs.push_back("super_resolution:factor=4 + inpaint_random:missing=0.8");
  return specs;
}

class EveryOperator : public testing::TestWithParam<std::string> {
 protected:
  const Shape image = image_for(GetParam());
  Rng rng{17};
  Operator A = make_operator(GetParam(), at::empty(image, at::kDouble), rng);
};

// Eq. (12) with dense matrices, on every schedule: the pivot sees x_t in the schedule's own scale.
TEST_P(EveryOperator, PivotAndCovarianceAreTheDenseOnes) {
  const Tensor matrix =
      matrix_of([&](const Tensor& v) { return A->apply(v); }, image, 1, at::kDouble)[0];
  const Problem problem = observe(A, rng.normal(image), scalar(0.05), rng);
  for (const auto& [name, schedule] : schedules()) {
    for (const double sigma : {0.01, 1.0, 80.0}) {
      const Tensor v = rng.normal(image);
      const Coefficients c = schedule->at(schedule->time(scalar(sigma)));
      const Tensor precision = (c.alpha / c.beta).square() * at::eye(v.numel(), at::kDouble) +
                               at::matmul(matrix.t(), matrix) / 0.0025;
      const Tensor x_t = c.beta * rng.normal(image);
      const Tensor b = c.alpha / c.beta.square() * x_t.flatten() +
                       at::matmul(matrix.t(), problem.y.flatten()) / 0.0025;
      const Tensor mu = at::linalg_solve(precision, b);
      EXPECT_LT((pivot(problem, x_t, c).flatten() - mu).norm().item<double>(),
                1e-8 * mu.norm().item<double>())
          << name << " " << sigma;
      const Tensor wanted = at::linalg_solve(precision, v.flatten());
      const Tensor found = pivot_covariance(*A, problem.sigma_y, c.sigma(), v).flatten();
      EXPECT_LT((found - wanted).norm().item<double>(), 1e-7 * wanted.norm().item<double>())
          << name << " " << sigma;
    }
  }
}

// A trajectory of three images from sigma = 80 down. Closed forms are exact; the error of
// iterations is measured in the pivot's own noise, and is no larger than the path says.
TEST_P(EveryOperator, PathOfPivotsKeepsItsBound) {
  const Problem problem = observe(A, rng.normal(image), scalar(0.05), rng);
  const Shape three{3, image[1], image[2], image[3]};
  const Tensor n = rng.normal(three);
  const double pixels = static_cast<double>(n[0].numel());
  PivotPath path;
  for (const double sigma : {80.0, 10.0, 2.0, 0.5, 0.1, 0.01}) {
    const Coefficients c = edm().at(scalar(sigma));
    const Tensor x_t = sigma * n + rng.normal(image);
    const Tensor error = path.next(problem, x_t, c) - pivot(problem, x_t, c);
    const Tensor measured = A->apply(error).flatten(1).square().sum(1) / 0.0025;
    const Tensor mahalanobis = error.flatten(1).square().sum(1) / (sigma * sigma) + measured;
    EXPECT_LE((mahalanobis / pixels).sqrt().max().item<double>(), path.largest_error() + 1e-7);
  }
  EXPECT_LE(path.largest_error(), PivotPath::kError);
  EXPECT_EQ(path.iterations() == 0, A->closed_form());
}

// Prop. 3, 5 standard errors at 4,000 simulations.
TEST_P(EveryOperator, SimulatedPivotsFollowProposition3) {
  for (const double sigma : {0.1, 2.0}) {
    const MomentTest law = pivot_law(A, image, sigma, 4000, rng);
    EXPECT_LT(std::abs(law.mean_z), 5) << sigma;
    EXPECT_LT(law.covariance_z, 5) << sigma;
  }
}

TEST_P(EveryOperator, PosteriorScoreIsTheGradientOfTheLogDensity) {
  const Mixture prior = example_mixture({image[1], 8, 8}, 2, 3);
  for (const auto& [name, schedule] : schedules())
    for (const double sigma : {0.2, 2.0})
      EXPECT_LT(score_error(A, prior, image, schedule->at(schedule->time(scalar(sigma))), rng),
                1e-5)
          << name << " " << sigma;
}

TEST_P(EveryOperator, PivotTendsToThePseudoInverseAtHighNoise) {
  EXPECT_LT(limit_error(A, image, rng), 1e-5);
}

// App. A, ridge regression: with little noise on it, x_t is believed.
TEST_P(EveryOperator, PivotTendsToTheStateAtLowNoise) {
  const Problem problem = observe(A, rng.normal(image), scalar(0.05), rng);
  const Tensor x_t = rng.normal(image);
  const Tensor mu = pivot(problem, x_t, edm().at(scalar(1e-6)));
  EXPECT_LT(((mu - x_t).norm() / x_t.norm()).item<double>(), 1e-6);
}

// sigma_y = 0 is an ordinary case: no division by it anywhere, and measured directions are certain.
TEST_P(EveryOperator, NoiselessMeasurementsAreFittedExactly) {
  const Problem problem = observe(A, rng.normal(image), scalar(0), rng);
  const Tensor mu = pivot(problem, rng.normal(image), edm().at(scalar(3)));
  EXPECT_LT(((A->apply(mu) - problem.y).norm() / problem.y.norm()).item<double>(), 1e-7);
  const Tensor certain = pivot_covariance(*A, scalar(0), scalar(3), A->adjoint(problem.y));
  EXPECT_LT((certain.norm() / A->adjoint(problem.y).norm()).item<double>(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Specs,
                         EveryOperator,
                         testing::ValuesIn(example_specs()),
                         [](const auto& info) {
                           std::string name = info.param.substr(0, info.param.find(':'));
                           return name + "_" + std::to_string(info.index);
                         });

// Eq. (14): the exact guidance is the gradient of log p(y | x_t).
TEST(Pivot, ExactGuidanceIsTheGradientOfTheLikelihood) {
  Rng rng(1);
  const Mixture prior = example_mixture({1, 4, 4}, 2, 3);
  const Operator A = average_pool(2);
  const Tensor x0 = prior.sample(rng, 1);
  const Problem problem = observe(A, x0, scalar(0.3), rng);
  const Coefficients c = vp_linear().at(scalar(0.4));
  const Tensor x_t = c.alpha * x0 + c.beta * rng.normal({1, 1, 4, 4});
  const Tensor guidance =
      exact_guidance(prior.mean(pivot_query(problem, x_t, c)), prior.mean(prior_query(x_t, c)), c);
  const Mixture posterior = prior.posterior(problem);
  // log p(y | x_t) = log p(x_t | y) - log p(x_t) + constant.
  const auto log_likelihood = [&](const Tensor& x) {
    return posterior.log_density_at(x, c) - prior.log_density_at(x, c);
  };
  const Tensor steps = 1e-4 * at::eye(16, at::kDouble).reshape({16, 1, 4, 4});
  const Tensor gradient = (log_likelihood(x_t + steps) - log_likelihood(x_t - steps)) / 2e-4;
  EXPECT_TRUE(guidance.flatten().allclose(gradient, 1e-5, 1e-6));
}

// A'A = gamma^2 I: the isotropic denoiser at the equivalent sigma answers the pivot exactly.
TEST(Pivot, EquivalentTimeIsExactForIsotropicOperators) {
  Rng rng(1);
  const double gamma = 0.7;
  const Operator A =
      dense_matrix(gamma * std::get<0>(at::linalg_qr(rng.normal({1, 16, 16}))), {1, 1, 4, 4});
  const Mixture prior = example_mixture({1, 4, 4}, 3, 3);
  const Problem problem = observe(A, prior.sample(rng, 1), scalar(0.2), rng);
  for (const auto& [name, schedule] : schedules()) {
    const Coefficients c = schedule->at(schedule->time(scalar(1.5)));
    const Tensor x_t = c.beta * rng.normal({1, 1, 4, 4});
    const Query query = pivot_query(problem, x_t, c);
    const Query isotropic{
        query.x, equivalent_sigma(scalar(gamma), problem.sigma_y, c), nullptr, {}};
    EXPECT_TRUE(prior.mean(query).allclose(prior.mean(isotropic), 1e-9, 1e-9)) << name;
  }
}

// Where gamma = 0 nothing is measured, and the pivot has the noise of x_t, with sigma_y = 0, too.
TEST(Pivot, TheEquivalentSigmaHasItsLimits) {
  const Coefficients c = vp_cosine().at(vp_cosine().time(scalar(1.5)));
  const auto equivalent = [&](double gamma, double sigma_y) {
    return equivalent_sigma(scalar(gamma), scalar(sigma_y), c).item<double>();
  };
  EXPECT_NEAR(equivalent(0, 0), 1.5, 1e-12);
  EXPECT_NEAR(equivalent(0, 0.2), 1.5, 1e-12);
  EXPECT_EQ(equivalent(0.7, 0), 0);
  EXPECT_NEAR(equivalent(0.7, 0.2), 1 / std::sqrt(1 / 2.25 + 0.49 / 0.04), 1e-12);
}

// Obs. 4: one evaluation at high noise is the posterior mean.
TEST(Pivot, OneEvaluationAtHighNoiseIsThePosteriorMean) {
  Rng rng(1);
  const Mixture prior = example_mixture({1, 8, 8}, 2, 3);
  const Operator A = average_pool(4);
  const Problem problem = observe(A, prior.sample(rng, 1), scalar(0.05), rng);
  const Coefficients c = edm().at(scalar(1e5));
  const Tensor mean = prior.mean(pivot_query(problem, 1e5 * rng.normal({1, 1, 8, 8}), c));
  EXPECT_TRUE(mean[0].allclose(prior.posterior(problem).mean(), 1e-4, 1e-4));
}

}  // namespace
}  // namespace eps
