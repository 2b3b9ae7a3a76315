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
  const auto flipped = with_flipped_kernel({.A = A, .y = x}, Border::circular);
  ASSERT_TRUE(flipped.has_value());
  // Correlation is the adjoint of convolution.
  EXPECT_LT((flipped->A->apply(x) - A->adjoint(x)).abs().max().item<double>(), 1e-12);
}

TEST(OperatorFindings, FlipTheKernelUnderItsBorder) {
  Rng rng(2);
  const Tensor x = rng.normal({1, 3, 8, 8}), turned = x.flip({2, 3});
  for (const Border border :
       {Border::valid, Border::reflect101, Border::reflect, Border::replicate, Border::zero}) {
    const Operator A = blur(lopsided(), 8, 8, border);
    const Tensor y = A->apply(x);
    const auto flipped = with_flipped_kernel({.A = A, .y = y}, border);
    ASSERT_TRUE(flipped.has_value()) << to_string(border);
    // A turned image blurred by the turned kernel is the blurred image, turned.
    EXPECT_LT((flipped->A->apply(turned) - y.flip({2, 3})).abs().max().item<double>(), 1e-12)
        << to_string(border);
  }
}

TEST(OperatorFindings, FlipOnlyKernelsThatChange) {
  const Tensor y = at::zeros({1, 1, 8, 8}, at::kDouble);
  const auto flips = [&](const Operator& A, const Tensor& of) {
    return with_flipped_kernel({.A = A, .y = of}, Border::circular).has_value();
  };
  EXPECT_TRUE(flips(circular_blur(lopsided(), 8, 8), y));
  EXPECT_FALSE(with_flipped_kernel({.A = circular_blur(lopsided(), 8, 8), .y = y}, {}));
  EXPECT_FALSE(flips(circular_blur(gaussian_kernel(1, 5).unsqueeze(0), 8, 8), y));
  EXPECT_FALSE(flips(circular_blur(motion_kernel(5, 30).unsqueeze(0), 8, 8), y));
  EXPECT_FALSE(flips(identity(), y));
  EXPECT_FALSE(flips(blur_pool(lopsided(), 8, 8, 2), y.slice(2, 0, 4).slice(3, 0, 4)));
}

ResidualTests with(const std::vector<ResidualStatistic>& statistics) { return {statistics}; }

TEST(OperatorFindings, AreNoneOfNoise) {
  EXPECT_TRUE(
      operator_findings(with({{"border", 3, 0.03}, {"width", -2, -0.02}}), {}, "it", {}).empty());
  EXPECT_TRUE(operator_findings({}, {}, "it", {}).empty());
}

TEST(OperatorFindings, NameTheStrongestCause) {
  const auto words = [](const std::vector<ResidualStatistic>& statistics) {
    const auto all = operator_findings(with(statistics), {}, "it", Border::circular);
    return all.size() == 1 ? all[0] : "";
  };
  const ResidualStatistic neighbours{"neighbours_0_1", 90, 0.9};
  EXPECT_NE(words({neighbours, {"border", 60, 3}, {"width", 10, 0.1}}).find("did not wrap around"),
            std::string::npos);
  EXPECT_NE(words({neighbours, {"replicated", 10, 0.1}, {"width", 20, 0.2}}).find("too wide"),
            std::string::npos);
  // More at the border is of the border, less is not.
  EXPECT_NE(words({{"border", 15, 1}, {"width", 20, 0.2}}).find("did not wrap around"),
            std::string::npos);
  EXPECT_NE(words({{"border", 8, 1}, {"width", 20, 0.2}}).find("too wide"), std::string::npos);
  EXPECT_NE(words({{"border", -15, -1}, {"width", 20, 0.2}}).find("too wide"), std::string::npos);
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

// What an operator is not, the words do not say of it.
TEST(OperatorFindings, SpeakOfTheBorderThatTheOperatorHas) {
  const auto words = [](const std::string& statistic, const std::optional<Border>& border) {
    return operator_findings(with({{statistic, 60, 3}}), {}, "it", border).at(0);
  };
  for (const std::optional<Border>& border :
       {std::optional<Border>(), std::optional(Border::valid), std::optional(Border::reflect101)})
    EXPECT_EQ(words("border", border).find("wrap"), std::string::npos);
  EXPECT_NE(words("border", {}).find("does not hold at the border"), std::string::npos);
  EXPECT_NE(words("border", Border::valid).find("reaches farther"), std::string::npos);
  EXPECT_NE(words("border", Border::reflect101).find("another than reflect101"), std::string::npos);
  EXPECT_NE(words("replicated", Border::zero).find("another than zero"), std::string::npos);
  EXPECT_NE(words("replicated", Border::circular).find("did not wrap"), std::string::npos);
  EXPECT_NE(words("wrapped", Border::replicate).find("wraps around"), std::string::npos);
}

TEST(OperatorFindings, NameTheFlippedKernelWhereItFitsBetter) {
  const ResidualTests wrong = with({{"border", 20, 0.3}}), right = with({{"border", 1, 0.01}});
  const KernelTrial flipped{.sigma_y = 0.2, .given = 0.14, .flipped = 0.13},
      given{.sigma_y = 0.2, .given = 0.13, .flipped = 0.14},
      unknown{.sigma_y = 0.2, .given = 0.1301, .flipped = 0.13};
  const auto first = [](const ResidualTests& tests, const KernelTrial& trial) {
    const auto all = operator_findings(tests, trial, "it", Border::valid);
    return all.empty() ? "" : all[0];
  };
  for (const ResidualTests& tests : {wrong, right})
    EXPECT_NE(first(tests, flipped).find("its kernel is flipped"), std::string::npos);
  KernelTrial refuted = flipped;
  refuted.refuted = true;
  EXPECT_EQ(first(wrong, refuted).find("flipped"), std::string::npos);
  EXPECT_EQ(first(wrong, given).find("flipped"), std::string::npos);
  EXPECT_NE(first(wrong, given), "");
  EXPECT_EQ(first(right, given), "");
  EXPECT_EQ(first(right, unknown), "");
  EXPECT_TRUE(given.is_given() && !unknown.is_given() && !unknown.is_flipped());
}

TEST(RestorationReport, SaysWhatItsChi2CanSay) {
  RestorationReport report;
  EXPECT_EQ(report.verdict(), "the samples fit the measurement");
  report.noise_estimated = true;
  EXPECT_EQ(report.verdict(),
            "the noise was fitted by chi2 itself, which so says nothing of the operator");
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
