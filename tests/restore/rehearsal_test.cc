// Rehearsals, with an exact prior and with one whose error is known.
#include "eps/restore/rehearsal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"
#include "eps/restore/restoration_report.h"

namespace eps {
namespace {

constexpr int64_t kFrame = 64;
constexpr double kSigma = 0.05;

// A prior whose answers are wrong by the same waves for every query.
class Wrong final : public Denoiser {
 public:
  Wrong(Stationary prior, double size) : prior_(std::move(prior)), size_(size) {}
  Tensor mean(const Query& query) const override {
    const Tensor along = at::linspace(0, 8 * 2 * M_PI, kFrame, at::kDouble).sin();
    return prior_.mean(query) + size_ * along.reshape({1, 1, 1, kFrame}).to(query.x.options());
  }

 private:
  const Stationary prior_;
  const double size_;
};

Operator gaussian(double width) {
  return circular_blur(gaussian_kernel(width, 13).unsqueeze(0), kFrame, kFrame);
}

class Rehearsals : public testing::Test {
 protected:
  Rehearsals() : prior_(at::zeros({1, kFrame, kFrame}, at::kDouble), spectrum()) {}

  static Tensor spectrum() { return 0.1 * natural_spectrum(kFrame, kFrame); }

  // Returns a report on two samples of y = A x + noise, restored as that of another operator.
  RestorationReport report(const Denoiser& denoiser, const Operator& A, const Operator& declared) {
    Rng rng(3);
    Problem problem = observe(A, prior_.sample(rng, {1, 1, kFrame, kFrame}), scalar(kSigma), rng);
    problem.A = declared;
    const MethodChoice choice = choose_method("eps:steps=30");
    const TrialSampler sampler{choice, denoiser, {.samples = 2, .seed = 1}};
    const Restoration restored = sampler.restored(problem);
    RestorationReport report;
    add_results(report, restored, {});
    report.residual = test_residuals(problem, restored.samples);
    suspect_ = report.residual.any_found() || !report.misfit.empty();
    rehearsal_ = rehearse(
        sampler,
        problem,
        restored.samples.slice(0, 0, 1),
        [](const Tensor& clean, Rng& noise) { return kSigma * noise.normal(clean.sizes().vec()); },
        {});
    add_rehearsal(report, rehearsal_);
    return report;
  }

  const Stationary prior_;
  bool suspect_ = false;
  Rehearsal rehearsal_;
};

// chi2 of exact samples has the variance 2/M at most, their residual no structure.
TEST_F(Rehearsals, OfExactSamplesFit) {
  const RestorationReport right = report(prior_, gaussian(1), gaussian(1));
  EXPECT_FALSE(suspect_);
  EXPECT_NEAR(rehearsal_.chi2, 1, 5 * std::sqrt(2.0 / (kFrame * kFrame)));
  EXPECT_FALSE(rehearsal_.residual.any_found());
  EXPECT_TRUE(right.fits());
}

// The error of the denoiser is in both restorations, so that nothing is left to hold against the
// operator.
TEST_F(Rehearsals, ExplainTheErrorOfADenoiser) {
  const RestorationReport right = report(Wrong(prior_, 0.04), identity(), identity());
  EXPECT_TRUE(suspect_);
  EXPECT_NEAR(rehearsal_.chi2 / right.chi2, 1, 0.1);
  EXPECT_TRUE(right.misfit.empty());
  EXPECT_FALSE(right.residual.any_found());
  EXPECT_NE(right.verdict().find("the network is inexact"), std::string::npos) << right.verdict();
}

TEST_F(Rehearsals, LeaveAWrongOperatorFound) {
  const RestorationReport wide = report(prior_, gaussian(0.7), gaussian(2.5));
  EXPECT_TRUE(suspect_);
  EXPECT_TRUE(wide.residual.any_found());
  const RestorationReport both = report(Wrong(prior_, 0.02), gaussian(0.7), gaussian(2.5));
  EXPECT_TRUE(both.residual.any_found());
}

// A rehearsal that fits says nothing of samples that do not.
TEST(Rehearsal, ExplainsNoOtherMisfit) {
  const Rehearsal rehearsal{.chi2 = 1.5};
  EXPECT_TRUE(rehearsal.explains(1.6, 10000));
  EXPECT_TRUE(rehearsal.explains(1.3, 10000));
  EXPECT_FALSE(rehearsal.explains(1, 10000));
  EXPECT_FALSE(rehearsal.explains(2, 10000));
  RestorationReport report;
  report.chi2 = 2;
  report.measurements = 10000;
  report.misfit = "far off";
  add_rehearsal(report, {.chi2 = 1.5, .residual = {.statistics = {{"border", 9, 1}}}});
  EXPECT_EQ(report.misfit, "far off");
  EXPECT_TRUE(report.residual.rehearsed.empty());
  EXPECT_EQ(report.chi2_rehearsed, 1.5);
}

// Twice what the rehearsal leaves, of the same sign, and the tolerance.
TEST(Rehearsal, AllowsTwiceItsOwnStructure) {
  const auto found = [](double size, double rehearsed) {
    const ResidualTests tests{.statistics = {{"sharpness", 1000 * size, size}},
                              .rehearsed = {{"sharpness", 1000 * rehearsed, rehearsed}}};
    return tests.any_found();
  };
  EXPECT_TRUE(found(-0.3, 0));
  EXPECT_FALSE(found(-0.3, -0.1));
  EXPECT_TRUE(found(-0.33, -0.1));
  EXPECT_TRUE(found(-0.3, 0.1));
  EXPECT_FALSE(found(0.3, 0.1));
}

}  // namespace
}  // namespace eps
