// What the residual says of the operator: the flipped kernel, and the words for each cause.
#include "eps/restore/operator_findings.h"

#include <gtest/gtest.h>

#include "eps/operators/factories.h"
#include "eps/restore/restoration_report.h"

namespace eps {
namespace {

Tensor lopsided() {
  return at::tensor({0.0, 0.1, 0.0, 0.5, 0.3, 0.0, 0.1, 0.0, 0.0}, at::kDouble).view({1, 3, 3});
}

TEST(OperatorFindings, FlipTheKernelAboutItsOrigin) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 1, 8, 8});
  const Operator A = circular_blur(lopsided(), 8, 8);
  const auto flipped = with_flipped_kernel({.A = A, .y = x});
  ASSERT_TRUE(flipped.has_value());
  // Correlation is the adjoint of convolution.
  EXPECT_LT((flipped->A->apply(x) - A->adjoint(x)).abs().max().item<double>(), 1e-12);
}

TEST(OperatorFindings, FlipOnlyKernelsThatChange) {
  const Tensor y = at::zeros({1, 1, 8, 8}, at::kDouble);
  const auto flips = [&](const Operator& A, const Tensor& of) {
    return with_flipped_kernel({.A = A, .y = of}).has_value();
  };
  EXPECT_FALSE(flips(circular_blur(gaussian_kernel(1, 5).unsqueeze(0), 8, 8), y));
  EXPECT_FALSE(flips(circular_blur(motion_kernel(5, 30).unsqueeze(0), 8, 8), y));
  EXPECT_FALSE(flips(identity(), y));
  EXPECT_FALSE(flips(blur_pool(lopsided(), 8, 8, 2), y.slice(2, 0, 4).slice(3, 0, 4)));
}

ResidualTests with(const std::vector<ResidualStatistic>& statistics) { return {statistics}; }

TEST(OperatorFindings, AreNoneOfNoise) {
  EXPECT_TRUE(
      operator_findings(with({{"border", 3, 0.03}, {"width", -2, -0.02}}), {}, "it").empty());
  EXPECT_TRUE(operator_findings({}, {}, "it").empty());
}

TEST(OperatorFindings, NameTheStrongestCause) {
  const auto words = [](const std::vector<ResidualStatistic>& statistics) {
    const auto all = operator_findings(with(statistics), {}, "it");
    return all.size() == 1 ? all[0] : "";
  };
  const ResidualStatistic neighbours{"neighbours_0_1", 90, 0.9};
  EXPECT_NE(words({neighbours, {"border", 60, 3}, {"width", 10, 0.1}}).find("did not wrap around"),
            std::string::npos);
  EXPECT_NE(words({neighbours, {"replicated", 10, 0.1}, {"width", 20, 0.2}}).find("too wide"),
            std::string::npos);
  EXPECT_NE(words({{"width", -20, -0.2}}).find("too narrow"), std::string::npos);
  EXPECT_NE(words({{"shift_x", -20, -0.2}}).find("pixel grid"), std::string::npos);
  EXPECT_NE(words({{"brightness", 20, 0.2}}).find("linear light"), std::string::npos);
  EXPECT_NE(words({{"width", 20, 0.2}, {"sharpness", -40, -0.4}, {"brightness", 50, 0.5}})
                .find("too wide"),
            std::string::npos);
  EXPECT_NE(words({neighbours, {"width", 1, 0.01}}).find("no white noise"), std::string::npos);
  EXPECT_NE(words({neighbours}).find("neighbours_0_1 of the residual is 90.0 standard deviations"),
            std::string::npos);
}

TEST(OperatorFindings, NameTheFlippedKernelWhereItFits) {
  const ResidualTests wrong = with({{"border", 20, 0.3}}), right = with({{"border", 1, 0.01}});
  EXPECT_NE(operator_findings(wrong, right, "it").at(0).find("its kernel is flipped"),
            std::string::npos);
  // A flipped kernel that does not fit either is no explanation.
  EXPECT_EQ(operator_findings(wrong, with({{"border", 15, 0.2}}), "it").at(0).find("flipped"),
            std::string::npos);
}

TEST(RestorationReport, SaysWhatItsChi2CanSay) {
  RestorationReport report;
  EXPECT_EQ(report.verdict(), "the samples fit the measurement");
  report.noise_estimated = true;
  EXPECT_EQ(report.verdict(),
            "the noise was chosen so that chi2 = 1; this says nothing of the operator");
  EXPECT_TRUE(report.fits());
  report.findings = {"it is another"};
  EXPECT_FALSE(report.fits());
  report.noise_estimated = false;
  EXPECT_EQ(report.verdict(), "the residual has the size of the noise, but not its structure");
  report.misfit = "no fit";
  EXPECT_EQ(report.verdict(), "no fit");
}

}  // namespace
}  // namespace eps
