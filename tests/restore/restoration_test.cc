// Restorations with an exact prior, against its posterior in closed form.
#include "eps/restore/restoration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/experiment/protocol.h"
#include "eps/metrics/interval.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "tests/files.h"
#include "tests/restore/small_prior.h"

namespace eps {
namespace {

// The variance of a pixel whose orthonormal Fourier coefficients have these variances.
double pixel_variance(const Tensor& spectrum) {
  return at::fft_irfft2(spectrum, {{kSide, kSide}})
      .select(-1, 0)
      .select(-1, 0)
      .mean()
      .item<double>();
}

Problem blurred(const Stationary& prior, double sigma_y) {
  Rng rng(3);
  const Tensor x0 = prior.sample(rng, {1, 1, kSide, kSide});
  const Operator A = circular_blur(gaussian_kernel(1, 7).unsqueeze(0), kSide, kSide);
  return observe(A, x0, scalar(sigma_y), rng);
}

// Every pixel within 5 standard errors: a false alarm of 256 * 6e-7.
void expect_moments(const Restoration& found, const Stationary::Posterior& exact, double S) {
  const double deviation = std::sqrt(pixel_variance(exact.spectrum));
  EXPECT_LT((found.mean - exact.mean[0]).abs().max().item<double>(), 5 * deviation / std::sqrt(S));
  EXPECT_LT((found.deviation / deviation - 1).abs().max().item<double>(), 5 / std::sqrt(2 * S));
}

TEST(Restoration, OfAnExactPriorHasThePosteriorsMoments) {
  const Stationary prior = small_prior();
  const double sigma_y = 0.03, S = 400;
  const Problem problem = blurred(prior, sigma_y);
  const Stationary::Posterior exact = prior.posterior(problem);
  const Restoration found =
      restore(choose_method("eps:steps=40"), prior, problem, {.samples = 400, .batch = 150});
  ASSERT_EQ(found.samples.sizes(), at::IntArrayRef({400, 1, kSide, kSide}));
  expect_moments(found, exact, S);
  EXPECT_EQ(found.cost.evaluations, 40 * 400);
  // E[|y - A x|^2 | y] = |y - A mean|^2 + the trace of A V A', over M sigma_y^2.
  const double M = kSide * kSide;
  EXPECT_EQ(found.measurements, kSide * kSide);
  Tensor impulse = at::zeros({1, 1, kSide, kSide}, at::kDouble);
  impulse[0][0][0][0] = 1;
  const Tensor gain = at::fft_rfft2(problem.A->apply(impulse)).abs().square();
  const double expected =
      ((problem.y - problem.A->apply(exact.mean)).square().mean().item<double>() +
       pixel_variance(gain * exact.spectrum)) /
      (sigma_y * sigma_y);
  EXPECT_NEAR(found.chi2, expected, 5 * std::sqrt(2 / (M * S)));
  EXPECT_NEAR(found.chi2, 1, 5 * std::sqrt(2 / M));
}

TEST(Restoration, IsTheSameWhateverTheBatch) {
  const Stationary prior = small_prior();
  const Problem problem = blurred(prior, 0.03);
  const auto choice = choose_method("eps", "", 5);
  const Restoration one = restore(choice, prior, problem, {.samples = 3, .batch = 1, .seed = 7});
  const Restoration all = restore(choice, prior, problem, {.samples = 3, .batch = 3, .seed = 7});
  EXPECT_LT((one.samples - all.samples).abs().max().item<double>(), 1e-10);
  const Restoration other = restore(choice, prior, problem, {.samples = 3, .seed = 8});
  EXPECT_GT((one.samples - other.samples).abs().max().item<double>(), 1e-3);
}

// Three independent channels of spectrum s have a mean of spectrum s/3: the prior of what is grey.
TEST(Restoration, OfAGreyMeasurementIsThatOfTheMeanOfTheChannels) {
  const Stationary prior = small_prior(), grey = small_prior(1.0 / 3);
  const Problem problem = blurred(grey, 0.03);
  const Restoration found =
      restore(choose_method("eps:steps=40"), prior, problem, {.samples = 400, .channels = 3});
  ASSERT_EQ(found.samples.sizes(), at::IntArrayRef({400, 1, kSide, kSide}));
  expect_moments(found, grey.posterior(problem), 400);
  EXPECT_NEAR(found.chi2, 1, 5 * std::sqrt(2.0 / (kSide * kSide)));
}

// Keeps what it is shown of y.
class Shown final : public Denoiser {
 public:
  Tensor mean(const Query& query) const override {
    side = query.side;
    return at::zeros_like(query.x);
  }
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override {
    if (method != NetworkInput::palette) return {};
    return method;
  }
  mutable Tensor side;
};

// The noise of each channel is y's own, and noise without a mean of variance C sigma_y^2 (1 - 1/C):
// together C sigma_y^2, and independent. In holes there is none.
TEST(Restoration, ShowsAGreyMeasurementWithNoiseOfItsOwnInEachChannel) {
  Rng rng(6);
  const Tensor mask = (rng.uniform({1, 1, 32, 32}) < 0.5).to(at::kDouble);
  const Tensor y = mask * rng.normal({1, 1, 32, 32});
  const Shown shown;
  restore(choose_method("palette", "", 1),
          shown,
          {inpainting(mask), y, scalar(0.1), {}},
          {.samples = 1, .channels = 3});
  ASSERT_EQ(shown.side.sizes(), at::IntArrayRef({1, 3, 32, 32}));
  EXPECT_LT((shown.side.mean(1, true) - y).abs().max().item<double>(), 1e-12);
  const Tensor colour = shown.side - y;
  EXPECT_EQ((colour * (1 - mask)).abs().max().item<double>(), 0);
  const double count = mask.sum().item<double>();  // two degrees of freedom each
  EXPECT_NEAR(colour.square().sum().item<double>() / (3 * count),
              0.02,
              5 * 0.02 * std::sqrt(2 / (2 * count)));
}

// At the default seeds, which are both 0: given the measurement's noise n, each channel has n plus
// independent noise of the variance 2 sigma_y^2, together 3 sigma_y^2.
TEST(Restoration, ColourNoiseIsIndependentOfTheMeasurementNoise) {
  const double side = 64, sigma_y = 0.1;
  const experiment::Images black{at::zeros({1, 1, 64, 64}, at::kDouble)};
  const auto problems =
      experiment::make_problems({.task = "identity", .sigma_y = sigma_y}, black, at::kCPU);
  const Tensor noise = problems.front().y;
  const Shown shown;
  restore(choose_method("palette", "", 1), shown, problems.front(), {.samples = 1, .channels = 3});
  for (const Tensor& channel : shown.side.unbind(1)) {
    const Tensor colour = channel - noise[0];
    const Tensor score = (colour * noise[0]).sum() / (noise.norm() * sigma_y * std::sqrt(2.0));
    EXPECT_LT(score.abs().item<double>(), 5);
    const double variance = channel.square().mean().item<double>() / (3 * sigma_y * sigma_y);
    EXPECT_NEAR(variance, 1, 5 * std::sqrt(2.0) / side);
  }
}

TEST(Restoration, WantsOneMeasurement) {
  const Stationary prior = small_prior();
  const Problem two{identity(), at::zeros({2, 1, kSide, kSide}, at::kDouble), scalar(0.1), {}};
  EXPECT_NE(error_of([&] { restore(choose_method("eps"), prior, two, {}); }).find("a batch of 2"),
            std::string::npos);
}

// The truth is one more draw beside S of a Gaussian; pixels are independent, 5 standard errors. Of
// 19 and 39 samples the order statistics are whole ones, and exact.
TEST(Interval, HoldsTheTruthOfAGaussianPosteriorWithNinetyPercent) {
  const int64_t side = 200;
  for (const int64_t S : {2, 3, 8, 18, 19, 39}) {
    const Tensor draws = 0.05 * Rng(4).normal({S + 1, 1, side, side});
    const Restoration found = summarise(draws.slice(0, 1));
    const Tensor inside = at::logical_and(found.low <= draws[0], draws[0] <= found.high);
    EXPECT_NEAR(inside.to(at::kDouble).mean().item<double>(), 0.9, 5 * 0.3 / side) << S;
    EXPECT_EQ(interval_kind(S), S < 19 ? "student_t" : "quantiles");
  }
}

TEST(Interval, IsClippedAndOfOneSampleThereIsNone) {
  const Restoration wide = summarise(at::tensor({-0.9, 0.9}, at::kDouble).reshape({2, 1, 1, 1}));
  EXPECT_EQ(wide.low.item<double>(), -1);
  EXPECT_EQ(wide.high.item<double>(), 1);
  const Restoration one = summarise(at::zeros({1, 1, 2, 2}));
  EXPECT_EQ(interval_kind(1), "none");
  EXPECT_FALSE(one.deviation.defined() || one.low.defined() || one.high.defined());
}

TEST(Misfit, IsFarFromOneInBothSenses) {
  EXPECT_EQ(misfit_words(1.2, 1000000, false), "");  // many standard deviations, but a network's
  EXPECT_EQ(misfit_words(0.8, 1000000, false), "");
  EXPECT_EQ(misfit_words(1.9, 50, false), "");  // 4.5 standard deviations
  EXPECT_NE(misfit_words(2.1, 50, false).find("noise is larger than stated"), std::string::npos);
  EXPECT_NE(misfit_words(1.3, 10000, false).find("operator is not the one"), std::string::npos);
  EXPECT_NE(misfit_words(0.7, 10000, false).find("noise is smaller than stated"),
            std::string::npos);
  EXPECT_NE(misfit_words(0.7, 10000, true).find("smaller than estimated"), std::string::npos);
}

// The last step of this method returns its estimates, which are then the samples.
TEST(Restoration, TellsTheRunningMeanAfterEachEvaluation) {
  const Stationary prior = small_prior();
  const Problem problem = blurred(prior, 0.05);
  const MethodChoice choice = choose_method("eps:steps=4,last=mean");
  RestorationOptions options{.samples = 5, .batch = 2};
  const Restoration silent = restore(choice, prior, problem, options);
  std::vector<Tensor> means;
  int64_t evaluations = 0;
  options.on_mean = [&](const std::function<Tensor()>& mean) { means.push_back(mean()); };
  options.on_evaluation = [&](int64_t images) {
    evaluations += images;
    EXPECT_FALSE(means.empty());  // the mean is there before the evaluation is told
  };
  const Restoration found = restore(choice, prior, problem, options);
  EXPECT_TRUE(identical(found.samples, silent.samples));
  EXPECT_EQ(evaluations, 20);
  ASSERT_EQ(means.size(), 12u);  // three batches
  EXPECT_LT((means[3] - found.samples.slice(0, 0, 2).mean(0)).abs().max().item<double>(), 1e-12);
  EXPECT_LT((means[11] - found.mean).abs().max().item<double>(), 1e-12);
  EXPECT_GT((means[0] - found.mean).abs().max().item<double>(), 0.01);
}

TEST(Restoration, AnExceptionOfItsListenerStopsIt) {
  struct Enough {};
  const Stationary prior = small_prior();
  int64_t evaluations = 0;
  const RestorationOptions options{.samples = 2, .on_evaluation = [&](int64_t) {
                                     if (++evaluations == 3) throw Enough();
                                   }};
  EXPECT_THROW(restore(choose_method("eps"), prior, blurred(prior, 0.05), options), Enough);
  EXPECT_EQ(evaluations, 3);
}

}  // namespace
}  // namespace eps
