// Particle methods against their formulas with dense matrices, and against closed-form posteriors.
#include <cmath>

#include "eps/math/statistics.h"
#include "tests/methods/method_batches.h"
#include "tests/methods/particles_by_hand.h"

namespace eps {
namespace {

constexpr int64_t kImages = 3, kParticles = 4;

// Three levels, 2, 0.7 or so, and 0.3, then 0.
std::vector<double> levels_by_hand() {
  const double high = std::pow(2, 1.0 / 7), low = std::pow(0.3, 1.0 / 7);
  return {2, std::pow((high + low) / 2, 7), 0.3, 0};
}
const std::string kParticleLevels = "steps=3,sigma_max=2,sigma_min=0.3,particles=4,data_std=0.4";

TEST(Tds, WeighsTheGuidedStepByThePriorsAndTheTwist) {
  int resampled = 0;
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    auto run = bed.run("tds:" + kParticleLevels);
    const std::vector<double> s = levels_by_hand();
    const Tensor AAt = at::matmul(bed.A, bed.A.t()), I = identity_like(AAt);
    Tensor x = 2 * at::cat({run.noise.unsqueeze(0),
                            draw_particles(run.rng, kImages, kParticles - 1, {1, 4, 4})});
    Tensor log_w = at::zeros({kParticles, kImages}, at::kDouble);
    for (size_t k = 0; k < 3; ++k) {
      const double ratio = s[k + 1] * s[k + 1] / (s[k] * s[k]);
      const double v = s[k + 1] * s[k + 1] * (1 - ratio);
      const double r2 = s[k] * s[k] * 0.16 / (s[k] * s[k] + 0.16);
      const Tensor precision = at::linalg_inv(0.01 * I + r2 * AAt);
      const auto twist = [&](const Tensor& D) {
        return -0.5 * quadratic(bed.y - at::matmul(D, bed.A.t()), precision);
      };
      const Kept kept = resampled_by_hand(log_w + twist(bed.D(x, s[k])), run.rng);
      resampled += kept.resampled;
      x = kept.of(x);
      const Tensor D = bed.D(x, s[k]);
      log_w = kept.log_weights - twist(D);
      if (k == 2) {
        x = D;
        break;
      }
      const Tensor gradient = at::matmul(
          at::matmul(at::matmul(bed.y - at::matmul(D, bed.A.t()), precision), bed.A), bed.K(s[k]));
      const Tensor prior = D + ratio * (x - D);
      const double c = std::min(s[k] * s[k] - s[k + 1] * s[k + 1], r2);
      const Tensor proposal = prior + c * gradient;
      x = proposal + std::sqrt(v) * draw_particles(run.rng, kImages, kParticles, {1, 4, 4});
      const auto log_normal = [&](const Tensor& mean) {
        return -0.5 * (x - mean).square().sum(-1) / v;
      };
      log_w = log_w + log_normal(prior) - log_normal(proposal);
    }
    log_w = log_w - 0.5 * (bed.y - at::matmul(x, bed.A.t())).square().sum(-1) / 0.01;
    expect_close(run.x, drawn_by_hand(x, log_w, run.rng));
    EXPECT_EQ(run.cost.evaluations, 3 * kParticles * kImages);
    EXPECT_EQ(run.cost.vjps, 2 * kParticles * kImages);
    EXPECT_EQ(run.cost.solves, 3 * kParticles * kImages);
  }
  // Both kinds of step were taken.
  EXPECT_GT(resampled, 0);
  EXPECT_LT(resampled, 3 * 3 * kImages);
}

// A step of FPS with every covariance as a matrix: the unknowns are x' and the noise e' on y'.
class FpsByHand {
 public:
  FpsByHand(const MethodTestbed& bed, bool diffused)
      : bed_(bed),
        diffused_(diffused),
        measured_((bed.A.abs().sum(1) > 0).to(at::kDouble)),
        measurement_(bed.problem.y.sizes().slice(1).vec()) {}

  // A n + sigma_y/d n2, (N, M).
  Tensor path_noise(Rng& rng) const {
    const Tensor n = at::matmul(bed_.draw(rng), bed_.A.t());
    if (!diffused_) return n;
    return n + 0.25 * rng.normal(bed_.problem.y.sizes().vec()).flatten(1) * measured_;
  }
  // The product of N(x; m, v I) and N(target; A x, w I) from noise that was put on m already.
  Tensor given(const Tensor& m, double v, const Tensor& target, double w, Rng& rng) const {
    const Tensor noisy =
        target + std::sqrt(w) * draw_particles(rng, kImages, kParticles, measurement_);
    const Tensor precision = bed_.I / v + at::matmul(bed_.A.t(), bed_.A) / w;
    return at::matmul(m / v + at::matmul(noisy, bed_.A) / w, at::linalg_inv(precision));
  }
  Tensor log_evidence(const Tensor& r, double v, double w) const {
    const Tensor AAt = at::matmul(bed_.A, bed_.A.t());
    return -0.5 * quadratic(r, at::linalg_inv(w * identity_like(AAt) + v * AAt));
  }
  // The mean (times e) and the variance of e' given e, from the joint law of e = e0 + s/4 n and
  // e' = e0 + q (e - e0) + f/4 n.
  std::pair<double, double> noise_law(double s, double q, double f) const {
    if (!diffused_) return {0, 0.01};
    const double variance = 0.01 + s * s / 16, covariance = 0.01 + q * s * s / 16;
    const double next = 0.01 + (q * q * s * s + f * f) / 16;
    return {covariance / variance, next - covariance * covariance / variance};
  }

 private:
  const MethodTestbed& bed_;
  const bool diffused_;
  const Tensor measured_;  // (M): 1 where a row of A is not 0
  const Shape measurement_;
};

// Returns how often an image was resampled.
int expect_fps_by_hand(const std::string& spec, bool diffused, bool ancestral) {
  const MethodTestbed bed(spec);
  const FpsByHand hand(bed, diffused);
  auto run = bed.run("fps_smc:" + kParticleLevels + (diffused ? ",noise=diffused" : "") +
                     (ancestral ? "" : ",convention=renoise,c=0.7"));
  const std::vector<double> s = levels_by_hand();
  Tensor y = bed.y + 2 * hand.path_noise(run.rng);
  Tensor x = 2 * at::cat({run.noise.unsqueeze(0),
                          draw_particles(run.rng, kImages, kParticles - 1, {1, 4, 4})});
  x = hand.given(x, 4, y, diffused ? 0.01 + 4.0 / 16 : 0.01, run.rng);
  Tensor log_w = at::zeros({kParticles, kImages}, at::kDouble);
  int resampled = 0;
  for (size_t k = 0; k < 3; ++k) {
    const double now = s[k], next = s[k + 1];
    const double f =
        ancestral ? next * std::sqrt(1 - next * next / (now * now)) : std::sqrt(0.7) * next;
    const double q = ancestral ? next * next / (now * now) : std::sqrt(0.3) * next / now;
    const auto [keep, w] = hand.noise_law(now, q, f);
    const Tensor y_next = bed.y + q * (y - bed.y) + f * hand.path_noise(run.rng);
    const Tensor D = bed.D(x, now), m = D + q * (x - D);
    const Tensor target = y_next - keep * (y - at::matmul(x, bed.A.t()));
    const Tensor r = target - at::matmul(m, bed.A.t());
    const Kept kept = resampled_by_hand(log_w + hand.log_evidence(r, f * f, w), run.rng);
    resampled += kept.resampled;
    log_w = kept.log_weights;
    y = y_next;
    x = kept.of(m);
    if (next == 0) break;
    x = x + f * draw_particles(run.rng, kImages, kParticles, {1, 4, 4});
    x = hand.given(x, f * f, kept.of(target), w, run.rng);
  }
  expect_close(run.x, drawn_by_hand(x, log_w, run.rng));
  EXPECT_EQ(run.cost.evaluations, 3 * kParticles * kImages);
  EXPECT_EQ(run.cost.vjps, 0);
  EXPECT_EQ(run.cost.solves, (1 + 2 * 2) * kParticles * kImages);
  return resampled;
}

TEST(FpsSmc, FollowsThePathOfTheMeasurementAndItsNoise) {
  for (const bool diffused : {true, false}) {
    for (const bool ancestral : {true, false}) {
      int resampled = 0;
      for (const auto& spec : testbed_operators()) {
        SCOPED_TRACE(spec + (diffused ? " diffused" : "") + (ancestral ? " ancestral" : ""));
        resampled += expect_fps_by_hand(spec, diffused, ancestral);
      }
      EXPECT_GT(resampled, 0);
      EXPECT_LT(resampled, 3 * 3 * kImages);
    }
  }
}

// Samples of one posterior, minus the mean of a law, times a root of its precision.
Tensor whitened_particles(const MethodTestbed& bed,
                          const std::string& method,
                          const Mixture& law,
                          int64_t count = 300) {
  Rng rng(6, count);
  const Samples samples =
      sample_posterior(choose_method(method), bed.prior, bed.problem, {count, 1, 4, 4}, rng);
  const Tensor error = (samples.images - law.mean()).flatten(1);
  return at::matmul(error, at::linalg_inv(at::linalg_cholesky(law.covariance())).t());
}

void expect_moments(const Tensor& whitened) {
  const MomentTest test = test_whitened(whitened);
  EXPECT_LT(test.mean_z, 5);
  EXPECT_LT(test.covariance_z, 5);
}

// What the ancestral chain of the prior ends in: for a Gaussian prior a Gaussian, whose covariance
// P a step from s to s' takes to F P F' + v I, F = K + rho (I - K).
Mixture law_of_chain(const MethodTestbed& bed, const std::vector<double>& levels) {
  Tensor mean = at::zeros_like(bed.m), P = levels[0] * levels[0] * bed.I;
  for (size_t k = 0; k + 1 < levels.size(); ++k) {
    const double s = levels[k], next = levels[k + 1], rho = next * next / (s * s);
    const Tensor F = (1 - rho) * bed.K(s) + rho * bed.I, D = bed.D(mean, s);
    mean = D + rho * (mean - D);
    P = at::matmul(at::matmul(F, P), F.t()) + next * next * (1 - rho) * bed.I;
  }
  return Mixture(at::ones({1}, at::kDouble), mean.reshape({1, 1, 4, 4}), P.unsqueeze(0));
}

// With so few levels the chain is far from the prior; the particles follow it, not the prior.
TEST(Tds, SamplesThePosteriorOfThePriorsChain) {
  const MethodTestbed bed(testbed_operators()[1], 1);
  std::vector<double> levels;
  const double high = std::pow(10, 1.0 / 7), low = std::pow(0.02, 1.0 / 7);
  for (int k = 0; k < 16; ++k) levels.push_back(std::pow(high + k / 15.0 * (low - high), 7));
  levels.push_back(0);
  const Mixture chain = law_of_chain(bed, levels).posterior(bed.problem);
  const std::string method = "tds:steps=16,sigma_max=10,sigma_min=0.02,particles=64";
  expect_moments(whitened_particles(bed, method, chain));
  const Tensor w = whitened_particles(bed, method, bed.prior.posterior(bed.problem));
  EXPECT_GT(test_whitened(w).covariance_z, 5);
}

void expect_posterior(const std::string& spec, const std::string& method) {
  SCOPED_TRACE(spec);
  const MethodTestbed bed(spec, 1);
  expect_moments(whitened_particles(bed, method, bed.prior.posterior(bed.problem)));
}

// With levels from 10 to 0.005, 200 of them, the chain's spread is short by 2 to 3 %; the standard
// error of the total variance of 300 samples is 2 %.
TEST(Tds, SamplesThePosterior) {
  const std::string method = "tds:steps=200,sigma_max=10,sigma_min=0.005,particles=24";
  expect_posterior(testbed_operators()[0], method);
  expect_posterior(testbed_operators()[2], method);
}

TEST(FpsSmc, SamplesThePosterior) {
  const std::string method =
      "fps_smc:noise=diffused,steps=120,sigma_max=10,sigma_min=0.005,particles=";
  expect_posterior(testbed_operators()[0], method + "64");
  expect_posterior(testbed_operators()[2], method + "32");
}

// Noise that is taken for fresh at each level makes the measurement count at each level.
TEST(FpsSmc, IsOverconfidentWithIndependentNoise) {
  const MethodTestbed bed(testbed_operators()[0], 1);
  const Tensor w = whitened_particles(
      bed, "fps_smc:sigma_max=10,sigma_min=0.005", bed.prior.posterior(bed.problem));
  EXPECT_LT((w - w.mean(0)).square().mean().item<double>(), 0.8);
}

TEST(ParticleMethods, TreatABatchAsItsImages) {
  for (const char* method : {"tds:steps=5,particles=4",
                             "tds:steps=5,particles=1",
                             "fps_smc:steps=5,particles=4,noise=diffused",
                             "fps_smc:steps=5,particles=4,convention=renoise"})
    expect_batch_is_its_images(method);
}

TEST(ParticleMethods, WantNoiseOnTheMeasurement) {
  for (const char* method : {"tds", "fps_smc"}) {
    MethodTestbed bed(testbed_operators()[0]);
    bed.problem.sigma_y = at::tensor({0.1, 0.0, 0.1}, at::kDouble).reshape({3, 1, 1, 1});
    EXPECT_THROW(bed.run(method), Error);
  }
}

}  // namespace
}  // namespace eps
