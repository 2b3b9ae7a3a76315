// The defaults of methods for kinds of operators.
#include <gtest/gtest.h>

#include "eps/methods/method.h"

namespace eps {
namespace {

// Table baseline-configs has five operators; all others of a kind have the same step sizes.
TEST(MethodChoice, TakesTheValuesOfTheOperatorsKindUnlessOthersAreGiven) {
  const auto scale = [](const std::string& task) {
    return choose_method("dps", task).options.text("scale");
  };
  EXPECT_EQ(scale("box_inpainting"), "10");
  EXPECT_EQ(choose_method("dps:scale=2", "box_inpainting").options.text("scale"), "2");
  EXPECT_EQ(scale("random_inpainting_95"), "5");
  EXPECT_EQ(scale("inpaint_mask:file=mask.png"), "5");
  EXPECT_EQ(scale("grey"), "5");
  EXPECT_EQ(scale(""), "5");
  for (const char* pooled : {"super_resolution_4x",
                             "super_resolution_16x",
                             "super_resolution:factor=2",
                             "blur_pool:factor=2"})
    EXPECT_EQ(scale(pooled), "10") << pooled;
  EXPECT_EQ(scale("blur_gaussian:std=2,size=9"), "1.5");
  EXPECT_EQ(scale("blur_kernel:file=k.png"), "2.5");
  EXPECT_EQ(choose_method("mpgd", "super_resolution_16x").options.text("zeta"), "30");
  EXPECT_EQ(choose_method("daps", "super_resolution_16x").options.text("sigma_min"), "0.1");
  EXPECT_THROW(scale("random_inpaintin"), Error);
}

TEST(MethodChoice, TakesForAChainTheKindThatLosesMostAndForAStackTheOneThatLosesLeast) {
  const auto scale = [](const std::string& task) {
    return choose_method("dps", task).options.text("scale");
  };
  EXPECT_EQ(scale("blur_gaussian:std=1,size=5 | inpaint_box"), "1.5");
  EXPECT_EQ(scale("inpaint_random | blur_motion:length=5"), "2.5");
  EXPECT_EQ(scale("blur_motion:length=5 | super_resolution:factor=4"), "10");
  EXPECT_EQ(scale("grey | super_resolution:factor=4"), "10");
  EXPECT_EQ(scale("super_resolution:factor=4 + blur_gaussian:std=1,size=5"), "1.5");
  EXPECT_EQ(scale("super_resolution:factor=4 + inpaint_random"), "5");
}

}  // namespace
}  // namespace eps
