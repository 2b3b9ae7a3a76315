// Methods that take Langevin or gradient steps towards the measurement, against their formulas with
// dense matrices.
#include "eps/math/statistics.h"
#include "tests/methods/method_batches.h"

namespace eps {
namespace {

// Many samples of one posterior, minus its mean, times a root of its precision: (count, d).
Tensor whitened_samples(const MethodTestbed& bed, const std::string& method, int64_t count) {
  Rng rng(5, count);
  const Samples samples =
      sample_posterior(choose_method(method), bed.prior, bed.problem, {count, 1, 4, 4}, rng);
  const Mixture posterior = bed.prior.posterior(bed.problem);
  const Tensor error = (samples.images - posterior.mean()).flatten(1);
  const Tensor root = at::linalg_cholesky(posterior.covariance());
  return at::matmul(error, at::linalg_inv(root).t());
}

// f(H) for a symmetric matrix H.
Tensor of_matrix(const Tensor& H, const std::function<Tensor(const Tensor&)>& f) {
  const auto [values, vectors] = at::linalg_eigh(H);
  return at::matmul(vectors * f(values), vectors.t());
}

// Levels 2 and 0.5, each with two Euler steps: EDM's grid of three points down to 0.01.
struct DapsByHand {
  const MethodTestbed& bed;

  Tensor ode(Tensor x, double s) const {
    const double high = std::pow(s, 1.0 / 7), low = std::pow(0.01, 1.0 / 7);
    const double middle = std::pow((high + low) / 2, 7);
    for (const auto& [from, to] : {std::pair{s, middle}, std::pair{middle, 0.01}})
      x = x + (to - from) * (x - bed.D(x, from)) / from;
    return x;
  }
  // eta = 0.008 falling to a tenth: 0.008 at k = 0 of 2 and 0.0044 at k = 1; limited to the inverse
  // of the curvature 1/s^2 + 1/tau^2.
  double eta(double s, double tau) const {
    const double annealed = s == 2 ? 0.008 : 0.0044;
    return std::min(annealed, 1 / (1 / (s * s) + 1 / (tau * tau)));
  }
  Tensor curvature(double s, double tau) const {
    return at::matmul(bed.A.t(), bed.A) / (tau * tau) + bed.I / (s * s);
  }
  Tensor constant(const Tensor& x0hat, double s, double tau) const {
    return at::matmul(bed.y, bed.A) / (tau * tau) + x0hat / (s * s);
  }
};
const std::string kDaps =
    "daps:steps=2,sigma_max=2,sigma_min=0.5,ode_steps=2,mcmc_steps=3,eta=0.008,eta_ratio=0.1";

TEST(Daps, IsOdeThenLangevinThenNoise) {
  for (const auto& spec : testbed_operators()) {
    for (const double tau : {0.1, 0.05}) {  // sigma_y, for which no limit acts; and one that does
      SCOPED_TRACE(spec);
      const MethodTestbed bed(spec);
      const DapsByHand hand{bed};
      auto run = bed.run(kDaps + (tau == 0.1 ? "" : ",tau=0.05"));
      Tensor x = 2 * run.noise, u;
      for (const auto& [s, next] : {std::pair{2.0, 0.5}, std::pair{0.5, 0.0}}) {
        const Tensor x0hat = hand.ode(x, s);
        u = x0hat;
        const double eta = hand.eta(s, tau);
        for (int step = 0; step < 3; ++step) {
          const Tensor r = at::matmul(u, bed.A.t()) - bed.y;
          const Tensor g = at::matmul(r, bed.A) / (tau * tau) + (u - x0hat) / (s * s);
          u = u - eta * g + std::sqrt(2 * eta) * bed.draw(run.rng);
        }
        x = u + next * bed.draw(run.rng);
      }
      expect_close(run.x, u);
      EXPECT_EQ(run.cost.evaluations, 2 * 2 * 3);
      EXPECT_EQ(run.cost.vjps, 0);
      EXPECT_EQ(run.cost.solves, 0);
    }
  }
}

// After J steps of u <- B u + eta b + sqrt(2 eta) n with B = I - eta H the mean is
// B^J x0hat + (I - B^J) H^{-1} b and the covariance 2 eta (I + B^2 + ... + B^(2 J - 2)).
TEST(Daps, DrawsTheEndOfItsChainAtOnce) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const DapsByHand hand{bed};
    auto run = bed.run(kDaps + ",chain=law");
    Tensor x = 2 * run.noise, u;
    for (const auto& [s, next] : {std::pair{2.0, 0.5}, std::pair{0.5, 0.0}}) {
      const Tensor x0hat = hand.ode(x, s);
      const Tensor H = hand.curvature(s, 0.1), b = hand.constant(x0hat, s, 0.1);
      const double eta = hand.eta(s, 0.1);
      const Tensor B = bed.I - eta * H, B2 = at::matmul(B, B), B3 = at::matmul(B2, B);
      const Tensor covariance = 2 * eta * (bed.I + B2 + at::matmul(B2, B2));
      const Tensor root = of_matrix(covariance, [](const Tensor& e) { return e.sqrt(); });
      u = at::matmul(x0hat, B3) + at::matmul(at::matmul(b, at::linalg_inv(H)), bed.I - B3) +
          at::matmul(bed.draw(run.rng), root);
      x = u + next * bed.draw(run.rng);
    }
    expect_close(run.x, u);
  }
}

// eta/tau^2 = 9 at the authors' tau: each step would multiply the measured part by -8.
TEST(Daps, StaysStableWhereTheStepIsTooLong) {
  const MethodTestbed bed(testbed_operators()[0]);
  const std::string steps = "daps:steps=20,tau=0.01,eta=9e-4,eta_ratio=1";
  EXPECT_LT(bed.run(steps).x.abs().max().item<double>(), 5);
  EXPECT_THROW(bed.run(steps + ",limit=0"), Error);
}

TEST(Daps, CostsItsLevelsTimesItsOdeSteps) {
  const Cost cost = measured_cost(choose_method("daps:chain=law"));
  EXPECT_EQ(cost.evaluations, 500);
  EXPECT_EQ(cost.solves, 0);
}

TEST(Daps, HasTheTablesValuesForEachTask) {
  const Spec blur = choose_method("daps", "gaussian_deblurring").options;
  EXPECT_EQ(blur.real("eta"), 9e-4);
  EXPECT_EQ(blur.real("sigma_max"), 30);
  EXPECT_EQ(blur.real("sigma_min"), 0.1);
  const Spec motion = choose_method("daps", "motion_deblurring").options;
  EXPECT_EQ(motion.real("eta"), 5e-4);
  EXPECT_EQ(motion.real("sigma_max"), 80);
}

TEST(Daps, RefusesAnInfinitelySharpLikelihood) {
  MethodTestbed bed(testbed_operators()[0]);
  bed.problem.sigma_y = scalar(0);
  EXPECT_THROW(bed.run(kDaps), Error);
  EXPECT_NO_THROW(bed.run(kDaps + ",tau=0.1"));
}

// Two levels of two steps each, from 2 to 0.5, then the mean.
TEST(ScoreAls, IsLangevinWithTheAnnealedLikelihood) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    for (const bool consistent : {true, false}) {
      auto run =
          bed.run("score_als:steps=2,sigma_max=2,sigma_min=0.5,inner=2,step_size=0.3,consistent=" +
                  std::to_string(consistent));
      const double kept = consistent ? 0.85 : 1;
      Tensor x = 2 * run.noise;
      for (const double s : {2.0, 0.5}) {
        const double a = 0.3 * s * s;
        for (int step = 0; step < 2; ++step) {
          const Tensor r = bed.y - at::matmul(x, bed.A.t());
          const Tensor score = (bed.D(x, s) - x) / (s * s) +
                               at::matmul(r, bed.A) / (bed.sigma_y * bed.sigma_y + s * s);
          x = x + a * score + std::sqrt(2 * a * kept) * bed.draw(run.rng);
        }
      }
      expect_close(run.x, bed.D(x, 0.5));
      EXPECT_EQ(run.cost.evaluations, (2 * 2 + 1) * 3);
      EXPECT_EQ(run.cost.vjps, 0);
      EXPECT_EQ(run.cost.solves, 0);
    }
  }
}

// 400 samples, 100 steps at each of 80 levels.
TEST(ScoreAls, SamplesThePosteriorGivenTime) {
  const MethodTestbed bed(testbed_operators()[1], 1);
  const MomentTest test = test_whitened(whitened_samples(
      bed, "score_als:steps=80,sigma_max=10,sigma_min=0.005,inner=100,consistent=0", 400));
  EXPECT_LT(test.mean_z, 5);
  EXPECT_LT(test.covariance_z, 5);
}

TEST(ScoreAls, HurriedHasTooMuchSpread) {
  const MethodTestbed bed(testbed_operators()[1], 1);
  const Tensor w = whitened_samples(bed, "score_als:step_size=0.2,consistent=0", 400);
  EXPECT_GT(w.square().mean().item<double>(), 1.2);
}

TEST(ScoreAls, TakesMeasurementsWithoutNoise) {
  MethodTestbed bed(testbed_operators()[0]);
  bed.problem.y = bed.problem.A->apply(bed.images(bed.D(bed.y, 1)));
  bed.problem.sigma_y = scalar(0);
  const Tensor x = bed.run("score_als").x;
  const Tensor r = at::matmul(x, bed.A.t()) - bed.problem.y.flatten(1);
  EXPECT_LT(r.abs().max().item<double>(), 0.02);  // sigma_min = 0.002
}

// Adam's first step is lr sign(g); its second is by hand as well.
TEST(RedDiff, IsAdamOnTheNoiseThatTheDenoiserMisses) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    for (const std::string balance : {"sums", "means"}) {
      auto run = bed.run(
          "red_diff:steps=2,sigma_max=2,sigma_min=0.5,lambda=0.3,data_weight=2,lr=0.1,decay=1,"
          "balance=" +
          balance);
      // 16 pixels; the rows of A that measure anything.
      const double measured = (bed.A.abs().sum(1) > 0).sum().item<double>();
      const double weight = balance == "means" ? 2 * 16 / measured : 2;
      const Tensor AAt = at::matmul(bed.A, bed.A.t());
      const Tensor inverse =
          at::linalg_inv(AAt + 0.04 * at::eye(AAt.size(0), at::kDouble));  // 4 sigma_y^2
      Tensor mu = at::matmul(at::matmul(bed.y, inverse), bed.A);
      const auto gradient = [&](double s, const Tensor& n) {
        const Tensor x = mu + s * n, e = (x - bed.D(x, s)) / s;
        const Tensor r = at::matmul(mu, bed.A.t()) - bed.y;
        return weight * at::matmul(r, bed.A) + 0.3 * s * (e - n);
      };
      const Tensor first = gradient(2, run.noise);
      mu = mu - 0.1 * first.sign();
      const Tensor second = gradient(0.5, bed.draw(run.rng));
      // Half of the steps are left, over which the rate falls to 0.
      const Tensor mean = (0.09 * first + 0.1 * second) / 0.19;
      const Tensor square = (0.0099 * first.square() + 0.01 * second.square()) / (1 - 0.99 * 0.99);
      mu = mu - 0.05 * mean / square.sqrt();
      expect_close(run.x, mu, 5e-6);  // Adam's epsilon, 1e-8, over the least gradient
      EXPECT_EQ(run.cost.evaluations, 2 * 3);
      EXPECT_EQ(run.cost.vjps, 0);
      EXPECT_EQ(run.cost.solves, 3);
    }
  }
}

// At one level s alone the minimum is known: noise of variance lambda s^2 on y, and a prior of
// covariance C + s^2 I. The grid's ends are a thousandth apart.
TEST(RedDiff, FindsTheModeForTheSmoothedPrior) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec, 1);
    const double s = 0.2, noise = 0.25 * s * s;
    const auto run =
        bed.run("red_diff:steps=6000,sigma_max=0.2002,sigma_min=0.2,lr=0.02,decay=0.9");
    const Tensor precision = at::linalg_inv(bed.C + s * s * bed.I);
    const Tensor H = at::matmul(bed.A.t(), bed.A) / noise + precision;
    const Tensor b = at::matmul(bed.y, bed.A) / noise + at::matmul(bed.m, precision);
    const Tensor mode = at::matmul(b, at::linalg_inv(H));
    const Tensor deviation = at::linalg_inv(H).diagonal().sqrt();
    EXPECT_LT(((run.x - mode) / deviation).abs().max().item<double>(), 0.2);
  }
}

// sigma_min = sigma_y/sqrt(lambda), for which the prior has its weight at the end.
TEST(RedDiff, IsNearThePosteriorMeanWithoutSpread) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec, 1);
    const Tensor w = whitened_samples(bed, "red_diff:sigma_min=0.2", 50);
    EXPECT_LT(w.square().mean().sqrt().item<double>(), 0.35);
    EXPECT_LT(w.std(0).max().item<double>(), 0.3);
  }
}

TEST(LangevinMethods, TreatABatchAsItsImages) {
  for (const char* method : {"daps:steps=3,mcmc_steps=4",
                             "daps:steps=3,mcmc_steps=4,chain=law",
                             "score_als:steps=3",
                             "red_diff:steps=5",
                             "red_diff:steps=5,balance=means"})
    expect_batch_is_its_images(method);
}

}  // namespace
}  // namespace eps
