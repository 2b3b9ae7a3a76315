// CRPS and energy score against double loops and closed forms.
#include "eps/metrics/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "eps/base/random.h"

namespace eps {
namespace {

// mean_i |X_i - z| - 1/2 mean_ij |X_i - X_j| of (M, D) members with a norm given by the test.
template <class Norm>
double slow_score(const Tensor& x, const Tensor& z, Estimator estimator, const Norm& norm) {
  const int64_t M = x.size(0);
  double error = 0, spread = 0;
  for (int64_t i = 0; i < M; ++i) {
    error += norm(x[i] - z);
    for (int64_t j = 0; j < M; ++j) spread += norm(x[i] - x[j]);
  }
  const int64_t pairs = estimator == Estimator::fair ? M * (M - 1) : M * M;
  return error / static_cast<double>(M) - spread / 2 / static_cast<double>(pairs);
}

double mean_absolute(const Tensor& d) { return d.abs().mean().item<double>(); }
double euclidean(const Tensor& d) { return d.square().sum().sqrt().item<double>(); }

const Estimator kBoth[] = {Estimator::standard, Estimator::fair};

TEST(Scores, EqualTheDoubleLoops) {
  Rng rng(1);
  for (const int64_t M : {2, 3, 7}) {
    const Tensor samples = rng.normal({M, 3, 2, 4}), truth = rng.normal({3, 2, 4});
    for (const Estimator estimator : kBoth) {
      const Tensor marginal = crps(samples, truth, estimator);
      const Tensor energy = energy_score(samples, truth, estimator);
      for (int64_t n = 0; n < 3; ++n) {
        const Tensor x = samples.select(1, n).flatten(1), z = truth[n].flatten();
        EXPECT_NEAR(marginal[n].item<double>(), slow_score(x, z, estimator, mean_absolute), 1e-14);
        EXPECT_NEAR(energy[n].item<double>(), slow_score(x, z, estimator, euclidean), 1e-14);
      }
    }
  }
}

TEST(Scores, OneCoordinateHasTheSameCrpsAndEnergyScore) {
  Rng rng(2);
  const Tensor samples = rng.normal({5, 8, 1}), truth = rng.normal({8, 1});
  for (const Estimator estimator : kBoth) {
    EXPECT_TRUE(crps(samples, truth, estimator)
                    .allclose(energy_score(samples, truth, estimator), 0, 1e-14));
  }
}

TEST(Scores, OfIdenticalCopiesAreTheError) {
  Rng rng(3);
  const Tensor x = rng.normal({4, 30}), truth = rng.normal({4, 30});
  const Tensor copies = x.expand({6, 4, 30});
  for (const Estimator estimator : kBoth) {
    EXPECT_TRUE(energy_score(copies, truth, estimator).allclose((x - truth).norm(2, 1), 1e-14));
    EXPECT_TRUE(crps(copies, truth, estimator).allclose((x - truth).abs().mean(1), 1e-13));
  }
  EXPECT_TRUE(energy_score(x.unsqueeze(0), truth, Estimator::standard)
                  .allclose((x - truth).norm(2, 1), 1e-14));
}

// The CRPS of N(0, 1) at z is z (2 Phi(z) - 1) + 2 phi(z) - 1/sqrt(pi) (Gneiting and Raftery 2007).
// The fair estimate has this mean for any M; the standard one is above it by E|X - X'|/(2 M). Five
// standard errors over 300 images of 40 pixels.
TEST(Scores, FairCrpsIsUnbiasedAndStandardHasAKnownBias) {
  const int64_t N = 300, M = 3;
  for (const double z : {0.0, 0.8, -2.0}) {
    const Tensor samples = Rng(4).normal({M, N, 40}), truth = at::full({N, 40}, z, at::kDouble);
    const double phi = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double exact = z * std::erf(z / std::numbers::sqrt2) + 2 * phi - std::numbers::inv_sqrtpi;
    for (const Estimator estimator : kBoth) {
      const double bias = estimator == Estimator::fair ? 0 : std::numbers::inv_sqrtpi / M;
      const Tensor scores = crps(samples, truth, estimator);
      EXPECT_NEAR(scores.mean().item<double>(),
                  exact + bias,
                  5 * scores.std().item<double>() / std::sqrt(static_cast<double>(N)));
    }
  }
}

// For N(0, I) in two dimensions |X| has the mean sqrt(pi/2) and |X - X'| has sqrt(pi): at z = 0 the
// energy score is sqrt(pi/2) - sqrt(pi)/2.
TEST(Scores, FairEnergyScoreIsUnbiased) {
  const int64_t N = 4000;
  const Tensor samples = Rng(5).normal({3, N, 2});
  const Tensor scores = energy_score(samples, at::zeros({N, 2}), Estimator::fair);
  const double root_pi = std::sqrt(std::numbers::pi);
  EXPECT_NEAR(scores.mean().item<double>(),
              root_pi / std::numbers::sqrt2 - root_pi / 2,
              5 * scores.std().item<double>() / std::sqrt(static_cast<double>(N)));
}

TEST(Scores, ChunksOfImagesGiveTheSame) {
  const Tensor samples = Rng(6).normal({4, 5, 3, 2, 2}).to(at::kFloat);
  const Tensor truth = Rng(7).normal({5, 3, 2, 2}).to(at::kFloat);
  for (const auto& score : {crps, energy_score}) {
    const Tensor whole = score(samples, truth, Estimator::fair);
    EXPECT_EQ(whole.scalar_type(), at::kDouble);
    EXPECT_TRUE(whole.slice(0, 2, 4).equal(
        score(samples.slice(1, 2, 4), truth.slice(0, 2, 4), Estimator::fair)));
  }
}

TEST(Scores, WrongShapesAndTooFewSamplesAreErrors) {
  const Tensor one = at::zeros({1, 4, 3}), truth = at::zeros({4, 3});
  EXPECT_THROW(crps(one, truth, Estimator::fair), Error);
  EXPECT_THROW(energy_score(one, truth, Estimator::fair), Error);
  EXPECT_THROW(crps(one, at::zeros({3, 3}), Estimator::standard), Error);
  EXPECT_THROW(energy_score(truth, truth, Estimator::standard), Error);
}

}  // namespace
}  // namespace eps
