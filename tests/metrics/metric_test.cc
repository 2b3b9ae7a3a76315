// The table of metrics: names, lengths of features, and what is better.
#include "eps/metrics/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/files.h"

namespace eps {
namespace {

TEST(Metric, NamesAndLabelsAreUniqueAndEachIsExplained) {
  std::set<std::string> names, labels;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_TRUE(labels.insert(metric.label).second) << metric.label;
    EXPECT_LE(metric.label.size(), 23u) << metric.label;
    EXPECT_GE(metric.help.size(), 20u) << metric.name;
    EXPECT_LE(metric.help.size(), 100u) << metric.name;
  }
}

TEST(Metric, TheOrderIsThatOfTables) {
  const std::vector<std::string> wanted = {"psnr",
                                           "psnr_of_mean",
                                           "ssim",
                                           "ssim_reflect",
                                           "ssim_of_mean",
                                           "lpips",
                                           "lpips_alex",
                                           "lpips_vgg",
                                           "lpips_squeeze",
                                           "fid",
                                           "crps",
                                           "crps_fair",
                                           "energy_score",
                                           "energy_score_fair",
                                           "crps_inception",
                                           "crps_inception_fair",
                                           "energy_score_inception",
                                           "energy_score_inception_fair",
                                           "mmd_paired",
                                           "mmd_paired_floor",
                                           "mmd_unpaired",
                                           "mmd_paired_inception",
                                           "mmd_paired_inception_floor",
                                           "mmd_unpaired_inception",
                                           "coverage_50",
                                           "coverage_80",
                                           "coverage_90",
                                           "coverage_95",
                                           "coverage_range",
                                           "rank_deviation",
                                           "rank_chi2",
                                           "spread_skill",
                                           "chi2"};
  std::vector<std::string> names;  // but those of metrics that were added later
  for (const Metric& metric : metrics())
    if (std::find(wanted.begin(), wanted.end(), metric.name) != wanted.end())
      names.push_back(metric.name);
  EXPECT_EQ(names, wanted);
}

TEST(Metric, FeaturesOfAnotherLengthAreInTheName) {
  EXPECT_EQ(metric_name("fid", 768), "fid_768");
  EXPECT_EQ(metric_name("crps_inception", 768), "crps_768");
  EXPECT_EQ(metric_name("crps_inception_fair", 1280), "crps_1280_fair");
  EXPECT_EQ(metric_name("energy_score_inception", 768), "energy_score_768");
  EXPECT_EQ(metric_name("mmd_paired_inception_floor", 768), "mmd_paired_768_floor");
  EXPECT_EQ(metric_name("crps_inception", 2048), "crps_inception");
  EXPECT_EQ(metric_name("coverage_50", 768), "coverage_50");
}

TEST(Metric, EveryNameIsFoundForEveryLength) {
  for (const int64_t features : {768, 1280, 2048}) {
    for (const Metric& metric : metrics()) {
      const std::string name = metric_name(metric.name, features);
      const Metric found = find_metric(name);
      EXPECT_EQ(found.name, name);
      EXPECT_EQ(found.label == metric.label, name == metric.name) << name;
      EXPECT_EQ(found.help == metric.help, name == metric.name) << name;
      EXPECT_EQ(found.better, metric.better) << name;
      EXPECT_EQ(found.digits, metric.digits) << name;
    }
  }
  EXPECT_EQ(find_metric("fid_768").label, "FID-768");
  EXPECT_EQ(find_metric("crps_768_fair").label, "CRPS-768 fair");
  EXPECT_EQ(find_metric("mmd_unpaired_768").label, "MMD2-768 unpaired");
}

TEST(Metric, AnUnknownNameIsAnErrorThatSuggests) {
  EXPECT_EQ(error_of([] { find_metric("spread_skil"); }),
            "unknown metric \"spread_skil\" (did you mean \"spread_skill\"?)");
  for (const std::string name : {"fid_2048", "fid_0768", "psnr_768", "coverage_768", "fid_", ""}) {
    EXPECT_THROW(find_metric(name), Error) << name;
  }
}

TEST(Metric, BadnessIsLessForTheBetter) {
  EXPECT_LT(badness(find_metric("psnr"), 30), badness(find_metric("psnr"), 20));
  EXPECT_LT(badness(find_metric("fid_768"), 3), badness(find_metric("fid_768"), 4));
  const Metric coverage = find_metric("coverage_80");
  EXPECT_DOUBLE_EQ(badness(coverage, 0.8), 0);
  EXPECT_NEAR(badness(coverage, 0.9), badness(coverage, 0.7), 1e-15);
  EXPECT_DOUBLE_EQ(badness(find_metric("chi2"), 0.75), 0.25);
  EXPECT_TRUE(std::isnan(badness(find_metric("coverage_range"), 0.8)));
}

}  // namespace
}  // namespace eps
