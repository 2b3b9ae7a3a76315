// A metric is one file: registered here, it is evaluated, named and absent like any other.
#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "eps/metrics/ensemble.h"
#include "eps/metrics/evaluation.h"

namespace eps {
namespace {

EPS_METRICS(1000,
            {{.name = "test_bias",
              .label = "Test bias",
              .help = "mean difference of samples and truth, known to this test only",
              .better = Better::target,
              .needs = {.samples = 2},
              .per_image =
                  [](const Ensemble& e) {
                    return (e.samples - e.truth).mean(0).flatten(1).mean(1);
                  }},
             {.name = "test_range",
              .label = "Test range",
              .help = "greatest number of all samples, known to this test only",
              .needs = {.images = 3},
              .of_all = [](const Ensemble& all) -> Statistic {
                return [most = all.samples.max().item<double>()](const Tensor&) { return most; };
              }}});

TEST(RegisteredMetric, IsEvaluatedLikeAnyOther) {
  const Tensor truth = Rng(1, 4).uniform({4, 1, 4, 4});
  const Tensor shift = at::tensor({0.1, 0.2, 0.3, 0.4}, at::kDouble).reshape({4, 1, 1, 1});
  const Evaluation e = evaluate((truth + shift).expand({2, 4, 1, 4, 4}), truth, {});
  EXPECT_NEAR(e.metrics.at("test_bias").value, 0.25, 1e-12);
  EXPECT_GT(e.metrics.at("test_bias").se, 0);
  EXPECT_EQ(e.metrics.at("test_range").value, (truth + shift).max().item<double>());
  EXPECT_EQ(find_metric("test_bias").label, "Test bias");
  EXPECT_EQ(metrics().back().name, "test_range");
}

TEST(RegisteredMetric, IsAbsentForItsDeclaredNeeds) {
  const Tensor truth = Rng(1, 2).uniform({2, 1, 4, 4});
  const Evaluation e = evaluate(truth.unsqueeze(0), truth, {});
  EXPECT_EQ(e.absent.at("test_bias"), "needs two samples or more");
  EXPECT_EQ(e.absent.at("test_range"), "needs three images or more");
  EXPECT_FALSE(e.metrics.contains("test_bias"));
}

// Every metric has one function, and one that needs a network says so.
TEST(RegisteredMetric, AllDeclareAFunctionAndTheirNetworks) {
  for (const Metric& metric : metrics()) {
    EXPECT_NE(metric.per_image == nullptr, metric.of_all == nullptr) << metric.name;
    const bool lpips = metric.name.starts_with("lpips");
    const bool features =
        metric.name == "fid" || metric.name.find("inception") != std::string::npos;
    EXPECT_EQ(metric.needs.network == MetricNetwork::lpips, lpips) << metric.name;
    EXPECT_EQ(metric.needs.network == MetricNetwork::inception, features) << metric.name;
  }
}

}  // namespace
}  // namespace eps
