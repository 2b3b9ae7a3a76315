// Bridges: their laws, and the methods that cross them.
#include "eps/diffusion/bridge.h"

#include <cmath>

#include "eps/math/statistics.h"
#include "eps/operators/factories.h"
#include "tests/files.h"
#include "tests/methods/method_testbed.h"

namespace eps {
namespace {

const Bridge& kIndi = bridge_of(NetworkInput::indi);
const Bridge& kI2sb = bridge_of(NetworkInput::i2sb);

double at_level(const Bridge::Function& f, double value) { return f(scalar(value)).item<double>(); }

// The variance that I2SB gathers by t <= 1/2, and in all, integrated by hand.
double gathered(double t) {
  const double a = 0.01, d = std::sqrt(3e-4) - a;
  return 1000 * (a * a * t + a * d * t * t + d * d * t * t * t / 3);
}
const double kS = 2 * gathered(0.5);

// A denoiser for every input, given as a function of x and the label.
class Answers final : public Denoiser {
 public:
  explicit Answers(Mean mean) : mean_(std::move(mean)) {}
  Tensor mean(const Query& query) const override { return mean_(query.x, query.sigma); }
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
    return method;
  }

 private:
  const Mean mean_;
};

Answers blind(const Denoiser& prior) {
  return Answers([&](const Tensor& x, const Tensor& sigma) { return prior.mean(Query{x, sigma}); });
}

// The bridge of I2SB is the random walk of the authors' 1000 steps, given its end: by the rule for
// normal variables, x_k given x_N has the mean x0 + V_k/V_N (x_N - x0) and variance V_k -
// V_k^2/V_N.
TEST(Bridge, OfI2sbIsTheAuthorsWalkGivenItsEnd) {
  std::vector<double> beta;
  for (int i = 0; i < 500; ++i)
    beta.push_back(std::pow(0.01 + (std::sqrt(3e-4) - 0.01) * i / 999, 2));
  beta.insert(beta.end(), beta.rbegin(), beta.rend());
  ASSERT_EQ(beta.size(), 1000u);
  std::vector<double> V = {0};
  for (const double step : beta) V.push_back(V.back() + step);
  for (const size_t k : {1, 10, 250, 500, 501, 777, 999, 1000}) {
    const double sigma = at_level(kI2sb.sigma, static_cast<double>(k) / 1000);
    EXPECT_NEAR(sigma * sigma / V[k], 1, 1e-3) << k;
    EXPECT_NEAR(at_level(kI2sb.weight, sigma), V[k] / V[1000], 1e-3) << k;
    EXPECT_NEAR(at_level(kI2sb.variance, sigma), V[k] - V[k] * V[k] / V[1000], 1e-3 * V[1000]) << k;
  }
  EXPECT_NEAR(kI2sb.sigma_max() * kI2sb.sigma_max(), kS, 1e-15);
}

TEST(Bridge, HasItsEndsAtTheImages) {
  Rng rng(1);
  const Shape shape{2, 1, 4, 4};
  const Tensor x0 = rng.normal(shape), x1 = rng.normal(shape), n = rng.normal(shape);
  for (const Bridge* bridge : {&kIndi, &kI2sb}) {
    EXPECT_EQ(at_level(bridge->sigma, 0), 0);
    expect_close(on_bridge(*bridge, x0, x1, bridge->sigma(scalar(0)), n), x0, 1e-15);
    // A standard deviation of 0 is the root of what rounding leaves of a variance.
    expect_close(on_bridge(*bridge, x0, x1, bridge->sigma(scalar(1)), n), x1, 1e-7);
  }
  EXPECT_EQ(error_of([] { bridge_of(NetworkInput::eps); }),
            "bridge: the input eps is not a bridge");
}

// With the true x0 for an answer, the way back has the bridge's own law at every level.
TEST(Bridge, IsCrossedByItsOwnLaw) {
  const int64_t n = 4000;
  const Shape shape{n, 1, 2, 2};
  const Tensor x0 = at::tensor({0.5, -1.0, 0.1, 2.0}, at::kDouble).reshape({1, 1, 2, 2});
  const Tensor x1 = at::tensor({-0.5, 0.0, 1.0, 0.3}, at::kDouble).reshape({1, 1, 2, 2});
  for (const Bridge* bridge : {&kIndi, &kI2sb}) {
    int64_t seen = 0;
    const Mean truth = [&](const Tensor& x, const Tensor& sigma) {
      const Tensor w = bridge->weight(sigma), s = bridge->variance(sigma).sqrt();
      const Tensor error = x - (1 - w) * x0 - w * x1;
      if (seen++ > 0 && bridge == &kI2sb) {
        const MomentTest test = test_whitened((error / s).flatten(1));
        EXPECT_LT(std::abs(test.mean_z), 5) << sigma;
        EXPECT_LT(std::abs(test.covariance_z), 5) << sigma;
      } else {
        EXPECT_LT(error.abs().max().item<double>(), 1e-12) << sigma;
      }
      return x0.expand_as(x);
    };
    Rng rng(2, n);
    expect_close(cross_bridge(*bridge, truth, x1.expand(shape), 5, rng), x0.expand(shape), 1e-15);
    EXPECT_EQ(seen, 5);
  }
}

// picture(y) of the testbed's operators, by hand.
Tensor picture_by_hand(const MethodTestbed& bed, const std::string& spec) {
  const Tensor& y = bed.problem.y;
  if (spec.starts_with("inpaint")) return at::matmul(bed.y, bed.A);  // A'y
  if (spec.starts_with("super")) return bed.rows(y.repeat_interleave(2, 2).repeat_interleave(2, 3));
  return bed.rows(y);
}

Samples run(const MethodTestbed& bed, const std::string& method) {
  Rng rng(21, bed.shape[0]);
  return sample_posterior(choose_method(method), blind(bed.prior), bed.problem, bed.shape, rng);
}

TEST(Indi, IsItsFormula) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const Tensor x1 = picture_by_hand(bed, spec);
    expect_close(bed.rows(run(bed, "indi:steps=1").images), bed.D(x1, 1));
    Tensor x = x1;
    const double d = 0.25;
    for (const double t : {1.0, 0.75, 0.5, 0.25}) x = d / t * bed.D(x, t) + (1 - d / t) * x;
    const Samples samples = run(bed, "indi:steps=4");
    expect_close(bed.rows(samples.images), x);
    expect_cost(samples.cost, {4 * 3, 0, 0});
  }
}

TEST(I2sb, IsItsFormula) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const Tensor x1 = picture_by_hand(bed, spec);
    expect_close(bed.rows(run(bed, "i2sb:steps=1").images), bed.D(x1, std::sqrt(kS)));
    const double third = gathered(1.0 / 3);
    for (const bool ode : {false, true}) {
      Rng rng(21, bed.shape[0]);
      bed.draw(rng);  // the noise that a bridge does not begin with
      Tensor x = x1;
      for (const auto& [var, next] :
           {std::pair{kS, kS - third}, std::pair{kS - third, third}, std::pair{third, 0.0}}) {
        const double delta = var - next;
        x = delta / var * bed.D(x, std::sqrt(var)) + next / var * x;
        if (!ode && next > 0) x = x + std::sqrt(next * delta / var) * bed.draw(rng);
      }
      const Samples samples = run(bed, ode ? "i2sb:steps=3,ode=1" : "i2sb:steps=3");
      expect_close(bed.rows(samples.images), x);
      expect_cost(samples.cost, {3 * 3, 0, 0});
    }
  }
}

TEST(BridgeMethods, GiveManySamplesOfOnePosterior) {
  for (const char* method : {"indi:steps=3", "i2sb:steps=3"}) {
    const MethodTestbed bed(testbed_operators()[1]);
    Problem one = bed.problem;
    one.y = one.y.slice(0, 0, 1);
    Problem many = one;
    many.y = one.y.repeat({3, 1, 1, 1});
    Rng first(5, 3), second(5, 3);
    const MethodChoice choice = choose_method(method);
    const Answers denoiser = blind(bed.prior);
    EXPECT_TRUE(identical(sample_posterior(choice, denoiser, one, bed.shape, first).images,
                          sample_posterior(choice, denoiser, many, bed.shape, second).images));
  }
}

TEST(BridgeMethods, WantTheirOwnNetwork) {
  const MethodTestbed bed(testbed_operators()[0]);
  EXPECT_EQ(error_of([&] { bed.run("i2sb"); }),
            "method i2sb: needs a denoiser for the input i2sb, which this one is not");
}

// For x1 = x0 + sigma_y n, a point of either bridge is x0 with noise of this standard deviation, so
// the prior's own denoiser answers E[x0 | x_t].
Answers exact(const Denoiser& prior, const Bridge& bridge, double sigma_y) {
  return Answers([&, sigma_y](const Tensor& x, const Tensor& sigma) {
    const Tensor w = bridge.weight(sigma);
    const Tensor variance = w.square() * (sigma_y * sigma_y) + bridge.variance(sigma);
    return prior.mean(Query{x, variance.sqrt()});
  });
}

struct GaussianPair {
  Mixture prior = example_mixture({1, 4, 4}, 1, 3);
  int64_t n = 2000;
  Shape shape{n, 1, 4, 4};

  Problem problem(double sigma_y, int64_t images) const {
    Rng rng(31, images);
    return observe(identity(), prior.sample(rng, images), scalar(sigma_y), rng);
  }
  Tensor samples(const std::string& method, const Bridge& bridge, const Problem& problem) const {
    Rng rng(32, n);
    const double sigma_y = problem.sigma_y.item<double>();
    return sample_posterior(
               choose_method(method), exact(prior, bridge, sigma_y), problem, shape, rng)
        .images;
  }
};

void expect_law(const Tensor& samples, const Mixture& law) {
  const MomentTest test = test_moments(samples, law.mean(), law.covariance());
  EXPECT_LT(std::abs(test.mean_z), 5);
  EXPECT_LT(std::abs(test.covariance_z), 5);
}

// Where the noise on x1 is that of the whole bridge: x0 and x1 are then a Schroedinger pair.
TEST(I2sb, SamplesThePosteriorWhereTheNoiseIsTheBridges) {
  const GaussianPair pair;
  const Problem problem = pair.problem(std::sqrt(kS), 1);
  const Tensor samples = pair.samples("i2sb:steps=600", kI2sb, problem);
  expect_law(samples, pair.prior.posterior(problem));
  // And not elsewhere: what is less noisy is spread more than its posterior.
  const Problem quiet = pair.problem(0.1, 1);
  const double spread =
      pair.samples("i2sb:steps=600", kI2sb, quiet).var(0, true).sum().item<double>();
  EXPECT_GT(spread / pair.prior.posterior(quiet).covariance().trace().item<double>(), 1.5);
}

// Over all measurements the samples have the law of the images, whatever the noise.
TEST(I2sb, KeepsTheLawOfTheImages) {
  const GaussianPair pair;
  for (const double sigma_y : {0.1, 1.0}) {
    SCOPED_TRACE(sigma_y);
    const Problem problem = pair.problem(sigma_y, pair.n);
    expect_law(pair.samples("i2sb:steps=600", kI2sb, problem), pair.prior);
  }
}

// With small steps, the flow from N(m, C + sigma_y^2 I) to N(m, C): along each axis of C a scaling
// by the ratio of the standard deviations. Half the step, half the error.
TEST(Indi, FollowsTheFlowFromMeasurementsToImages) {
  const GaussianPair pair;
  const double sigma_y = 0.7;
  const Problem problem = pair.problem(sigma_y, pair.n);
  const auto [c, axes] = at::linalg_eigh(pair.prior.covariance());
  const Tensor ratio = (c / (c + sigma_y * sigma_y)).sqrt();
  const Tensor m = pair.prior.mean().flatten();
  const Tensor wanted =
      m + at::matmul(at::matmul(problem.y.flatten(1) - m, axes) * ratio, axes.t());
  const auto error = [&](const std::string& method) {
    const Tensor x = pair.samples(method, kIndi, problem).flatten(1);
    return (x - wanted).square().mean().sqrt().item<double>();
  };
  const double coarse = error("indi:steps=400"), fine = error("indi:steps=800");
  EXPECT_LT(coarse, 5e-3);
  EXPECT_NEAR(coarse / fine, 2, 0.1);
}

}  // namespace
}  // namespace eps
