// What particle methods share, against dense matrices and counts.
#include "eps/methods/particles.h"

#include <cmath>

#include "tests/methods/particles_by_hand.h"

namespace eps {
namespace {

constexpr int64_t kProblems = 3;

TEST(Particles, EvidenceIsTheGaussianDensity) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    Rng rng(4);
    const Tensor x = rng.normal({2 * kProblems, 1, 4, 4});
    const Tensor r = bed.problem.A->apply(x);
    const Tensor noise = scalar(0.01), spread = scalar(0.2);
    const Evidence actual = evidence(*bed.problem.A, r, kProblems, noise, spread);
    const Tensor AAt = at::matmul(bed.A, bed.A.t());
    const Tensor inverse = at::linalg_inv(0.01 * identity_like(AAt) + 0.2 * AAt);
    expect_close(actual.log_density.flatten(), -0.5 * quadratic(r.flatten(1), inverse));
    expect_close(actual.pull.flatten(1), at::matmul(at::matmul(r.flatten(1), inverse), bed.A));
    expect_close(log_likelihood(r, kProblems, noise).flatten(),
                 -0.5 * r.flatten(1).square().sum(1) / 0.01);
  }
}

// A particle of weight w has M w offspring, rounded down or up; and M w on average.
TEST(Particles, SystematicResamplingKeepsEachInProportion) {
  const int64_t M = 10, N = 2000;
  Rng rng(3, N);
  // One particle has nearly everything, so that every image is resampled.
  const Tensor weights = at::tensor({0.62, 0.2, 0.05, 0.05, 0.03, 0.02, 0.01, 0.01, 0.005, 0.005});
  const Tensor log_weights = weights.to(at::kDouble).log().unsqueeze(1).expand({M, N});
  const auto [rows, after] = resample(log_weights, rng);
  EXPECT_TRUE(at::equal(after, at::zeros_like(after)));
  const Tensor image = rows.remainder(N), particle = at::floor_divide(rows, N);
  EXPECT_TRUE(at::equal(image, at::arange(N).repeat({M})));
  Tensor offspring = at::zeros({M, N}, at::kDouble);
  for (int64_t i = 0; i < M; ++i)
    offspring[i] = (particle.reshape({M, N}) == i).sum(0).to(at::kDouble);
  const Tensor expected = 10 * weights.to(at::kDouble).unsqueeze(1);
  EXPECT_LT((offspring - expected).abs().max().item<double>(), 1 + 1e-9);
  // A count that is rounded up with probability p has variance p (1 - p) <= 1/4.
  EXPECT_LT((offspring.mean(1, true) - expected).abs().max().item<double>(),
            5 * 0.5 / std::sqrt(static_cast<double>(N)));
}

TEST(Particles, AreLeftAloneWhileTheirWeightsAreEven) {
  Rng rng(3, 2);
  const Tensor log_weights =
      at::tensor({0.0, 0.0, 0.1, -50.0, -0.1, -60.0}, at::kDouble).reshape({3, 2});
  const auto [rows, after] = resample(log_weights, rng);
  EXPECT_TRUE(at::equal(rows, at::tensor({0, 1, 2, 1, 4, 1}).to(at::kLong)));
  expect_close(after, log_weights * at::tensor({1.0, 0.0}, at::kDouble));
}

TEST(Particles, AreDrawnByWeight) {
  const int64_t N = 4000;
  Rng rng(9, N);
  const Tensor weights = at::tensor({0.1, 0.6, 0.3}, at::kDouble);
  const Tensor particles =
      at::arange(3, at::kDouble).repeat_interleave(N).reshape({3 * N, 1, 1, 1});
  const Tensor drawn =
      draw_particle(particles, weights.log().unsqueeze(1).expand({3, N}), rng).flatten();
  for (int64_t i = 0; i < 3; ++i) {
    const double p = weights[i].item<double>(), deviation = std::sqrt(p * (1 - p) / N);
    EXPECT_NEAR((drawn == i).to(at::kDouble).mean().item<double>(), p, 5 * deviation);
  }
}

}  // namespace
}  // namespace eps
