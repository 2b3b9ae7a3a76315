// All metrics together: which are there, what they say of samples whose quality is known.
#include "eps/metrics/evaluation.h"

#include <gtest/gtest.h>

#include "eps/operators/factories.h"

namespace eps {
namespace {

TEST(Evaluation, IsTheSameForAnyNumberOfSamplesWhenTheyAreTheTruth) {
  const Tensor truth = Rng(1, 4).uniform({4, 3, 16, 16}) * 2 - 1;
  const Evaluation e = evaluate(truth.unsqueeze(0).expand({3, -1, -1, -1, -1}), truth, {});
  EXPECT_NEAR(e.metrics.at("ssim").value, 1, 1e-12);
  EXPECT_NEAR(e.metrics.at("energy_score").value, 0, 1e-12);
  EXPECT_NEAR(e.metrics.at("crps").value, 0, 1e-12);
  EXPECT_NEAR(e.metrics.at("mmd_paired").value, e.metrics.at("mmd_paired_floor").value, 1e-12);
  EXPECT_EQ(e.metrics.at("coverage_range").value, 1);
  EXPECT_EQ(e.absent.at("lpips"), "needs LPIPS weights");
  EXPECT_EQ(e.absent.at("fid"), "needs Inception weights");
  EXPECT_EQ(e.absent.at("coverage_90"), "needs 19 samples or more");
  EXPECT_FALSE(e.metrics.count("coverage_90"));
  EXPECT_EQ(e.ranks.size(), 4u);
}

TEST(Evaluation, KnownErrorsHaveKnownMetrics) {
  // Two samples, 0.2 above and below the truth everywhere: in [0, 1], 0.1.
  const Tensor truth = Rng(1, 5).uniform({5, 1, 12, 12}) - 0.5;
  const Evaluation e = evaluate(at::stack({truth + 0.2, truth - 0.2}), truth, {});
  EXPECT_NEAR(e.metrics.at("psnr").value, 20, 1e-9);
  EXPECT_NEAR(e.metrics.at("psnr").se, 0, 1e-9);
  EXPECT_NEAR(e.metrics.at("crps").value, 0.1 - 0.2 / 4, 1e-12);
  EXPECT_NEAR(e.metrics.at("crps_fair").value, 0, 1e-12);
  EXPECT_NEAR(e.metrics.at("energy_score").value, 12 * (0.1 - 0.2 / 4), 1e-12);
  EXPECT_NEAR(e.metrics.at("energy_score_fair").value, 0, 1e-12);
  EXPECT_EQ(e.ranks, (std::vector<double>{0, 1, 0}));
}

TEST(Evaluation, OneSampleLeavesOutWhatNeedsTwo) {
  const Tensor truth = Rng(1, 2).uniform({2, 1, 4, 4});
  const Evaluation e = evaluate((truth + 0.1).unsqueeze(0), truth, {});
  for (const char* name : {"crps_fair", "spread_skill", "rank_chi2", "coverage_range"})
    EXPECT_EQ(e.absent.at(name), "needs two samples or more") << name;
  EXPECT_EQ(e.absent.at("mmd_paired"), "needs three images or more");
  EXPECT_EQ(e.absent.at("ssim"), "needs images of 11 pixels or more a side");
  EXPECT_EQ(e.absent.at("chi2"), "needs a measurement, its operator and its noise");
  EXPECT_TRUE(e.ranks.empty());
  EXPECT_TRUE(e.metrics.count("psnr") && e.metrics.count("crps"));
}

TEST(Evaluation, ImagesThatNothingWasMeasuredOfHaveNoChiSquare) {
  const Tensor truth = Rng(1, 3).uniform({3, 1, 4, 4});
  const Tensor mask = at::tensor({1.0, 0.0, 1.0}, at::kDouble).reshape({3, 1, 1, 1});
  Rng rng(2, 3);
  const std::vector<Problem> problems = {
      observe(inpainting(mask.expand({3, 1, 4, 4}).contiguous()), truth, scalar(0.1), rng)};
  const Evaluation e = evaluate(truth.unsqueeze(0), truth, {.problems = &problems});
  EXPECT_NEAR(e.metrics.at("chi2").value, 1, 5 * std::sqrt(2.0 / 32));
  EXPECT_TRUE(std::isfinite(e.metrics.at("chi2").se));
  EXPECT_TRUE(std::isfinite(e.metrics.at("mmd_unpaired").se));  // of three images
}

}  // namespace
}  // namespace eps
