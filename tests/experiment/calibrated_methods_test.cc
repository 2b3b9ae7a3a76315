// The calibration of methods under a known prior.
#include <gtest/gtest.h>

#include "eps/experiment/protocol.h"
#include "eps/methods/method.h"
#include "eps/metrics/evaluation.h"
#include "eps/priors/mixture.h"

namespace eps {
namespace {

// 90% intervals under a known prior. The truth of an image is drawn from the prior, its samples
// from the method with the exact denoiser; pixels of an image depend on each other, images do not,
// so the standard error is that between images.
class CalibratedMethods : public testing::Test {
 protected:
  static Evaluation of(const std::string& method) {
    constexpr int64_t kImages = 150, kSamples = 19;
    const Mixture prior = example_mixture({1, 6, 6}, 2, 1);
    Rng rng(2, kImages);
    const experiment::Images images{prior.sample(rng, kImages)};
    const experiment::Protocol protocol{
        .task = "inpaint_random:missing=0.5", .seed = 3, .batch = kImages};
    const auto problems = make_problems(protocol, images, at::kCPU);
    std::vector<Tensor> samples;
    draw_samples(protocol,
                 choose_method(method),
                 prior,
                 images,
                 at::kCPU,
                 kSamples,
                 {},
                 [&](const Tensor& part) { samples.push_back(part); });
    return evaluate(at::stack(samples), images.x0, {.problems = &problems});
  }
};

TEST_F(CalibratedMethods, EpsCoversNinetyPercentAtNinetyPercent) {
  const Evaluation e = of("eps");
  for (const char* name : {"coverage_90", "coverage_90_measured", "coverage_90_unmeasured"}) {
    const auto [value, se] = e.metrics.at(name);
    EXPECT_LT(se, 0.01) << name;
    EXPECT_NEAR(value, 0.9, 5 * se) << name;
  }
  EXPECT_NEAR(e.metrics.at("spread_skill").value, 1, 5 * e.metrics.at("spread_skill").se);
  EXPECT_NEAR(e.metrics.at("chi2").value, 1, 5 * e.metrics.at("chi2").se);
  EXPECT_LT(e.metrics.at("rank_chi2").value, 5);
}

TEST_F(CalibratedMethods, DpsDoesNot) {
  const Evaluation e = of("dps:scale=0.3,steps=100");
  const auto [value, se] = e.metrics.at("coverage_90");
  EXPECT_GT(std::abs(value - 0.9), 5 * se) << value;
  EXPECT_GT(e.metrics.at("rank_chi2").value, 5);
}

}  // namespace
}  // namespace eps
