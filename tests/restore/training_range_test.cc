// Warnings about problems that a network was not trained for.
#include "eps/restore/training_range.h"

#include <gtest/gtest.h>

namespace eps {
namespace {

TEST(TrainingRange, NamesAPriorThatNeverSawNothing) {
  const auto warned = [](const std::vector<std::string>& tasks) {
    const auto warnings = own_prior_warnings("net", {.tasks = tasks}, 64);
    return warnings.empty() ? "" : warnings.at(0);
  };
  const auto at_most = [](const std::string& percent) {
    return "net was trained with at most " + percent +
           "% of the pixels missing; as a prior it is asked with all of them missing";
  };
  EXPECT_EQ(warned({"identity", "inpaint_random:missing=0.1..0.94", "soft_mask"}), at_most("94"));
  EXPECT_EQ(warned({"inpaint_box:height=10%..50%,width=32"}), at_most("25"));
  EXPECT_EQ(warned({"blur_gaussian:std=1", "one that is not known"}), at_most("0"));
  EXPECT_EQ(warned({"identity", "inpaint_random:missing=0.5..0.95"}), "");
  EXPECT_EQ(warned({"inpaint_box:height=64,width=98%"}), "");
  EXPECT_EQ(warned({"random_inpainting_95"}), "");
  EXPECT_EQ(warned({}), "");  // a prior, or a network of unknown origin
}

// Blurs of the training wrapped around; the default border of a measurement is unknown.
TEST(TrainingRange, NamesABorderThatWasNotTrained) {
  const Provenance trained{.tasks = {"blur_motion:length=5..25,angle=0..180", "box_inpainting"}};
  const auto warnings = [&](const std::string& spec) {
    return operator_warnings("net", trained, spec, 64);
  };
  const std::vector<std::string> valid = {
      "net was trained for blurs with border=circular, not valid"};
  EXPECT_EQ(warnings("blur_motion:length=9,border=valid"), valid);
  EXPECT_EQ(warnings("blur_kernel:file=k.npy,border=valid"), valid);
  EXPECT_TRUE(warnings("blur_motion:length=9").empty());
  EXPECT_TRUE(warnings("inpaint_box").empty());
}

}  // namespace
}  // namespace eps
