// The distributions from which batches are drawn.
#include "eps/training/batch_source.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/training/training_session.h"

namespace eps::training {
namespace {

TEST(Training, NoiseLevelsAreLogNormal) {
  const TrainingConfig config = tiny("prior", {});
  const Dataset data = synthetic(16);
  const BatchSource source(data, batch_options(config), at::kCPU);
  const int64_t n = 2000;
  const Tensor logs = source.draw(0, n).groups[0].query.sigma.flatten().to(at::kDouble).log();
  const auto root = std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(logs.mean().item<double>(), -1.2, 5 * 1.2 / root);
  EXPECT_NEAR(logs.var().item<double>(), 1.44, 5 * 1.44 * std::sqrt(2.0) / root);
}

// Alg. 1, line 3: every image its own task, all equally often, each with the operator of its kind.
TEST(Training, TasksAreDrawnPerImage) {
  const TrainingConfig config = tiny("eps", {"identity", "super_resolution_4x"});
  const Dataset data = synthetic(16);
  const BatchSource source(data, batch_options(config), at::kCPU);
  const int64_t n = 400;
  const TrainingBatch batch = source.draw(0, n);
  // A picture of pooled pixels is constant along the first two columns; noise makes others differ.
  ASSERT_EQ(batch.groups.size(), 2u);
  const Tensor side = at::cat({batch.groups[0].query.side, batch.groups[1].query.side});
  const Tensor pooled = (side.slice(3, 0, 1) - side.slice(3, 1, 2)).abs().amax({1, 2, 3}) == 0;
  EXPECT_NEAR(pooled.sum().item<double>(), 200, 5 * std::sqrt(100.0));
}

// Images in a row share a task, wherever a batch begins, and the next row draws its own.
TEST(Training, TasksAreDrawnForRunsOfImages) {
  TrainingConfig config = tiny("eps", {"identity", "grey", "super_resolution_4x"});
  config.task_run = 4;
  const Dataset data = synthetic(16);
  const BatchSource source(data, batch_options(config), at::kCPU);
  const auto counts = [&](int64_t first, int64_t count) {
    std::vector<int64_t> sizes;
    for (const auto& group : source.make_problems(first, count)) sizes.push_back(group.x0.size(0));
    return sizes;
  };
  int64_t runs = 0, changes = 0;
  for (int64_t run = 0; run < 60; ++run) {
    EXPECT_EQ(counts(4 * run, 4), std::vector<int64_t>{4});
    const auto across = counts(4 * run + 2, 4);  // the ends of two runs
    ++runs;
    if (across.size() == 2) {
      ++changes;
      EXPECT_EQ(across, (std::vector<int64_t>{2, 2}));
    }
  }
  EXPECT_NEAR(static_cast<double>(changes), runs * 2 / 3.0, 4 * std::sqrt(60 * 2 / 9.0));
  config.task_run = 0;
  EXPECT_THROW(resolved(config), Error);
}

}  // namespace
}  // namespace eps::training
