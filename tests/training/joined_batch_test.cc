// Batches of several tasks: groups, and the groups as one pass through a network.
#include "eps/training/joined_batch.h"

#include <gtest/gtest.h>

#include "tests/training/training_session.h"

namespace eps::training {
namespace {

// Each image has the operator, noise and question that it has in a batch of its own, whatever group
// it is in; and joined, the groups are what the images are one by one.
TEST(JoinedBatch, HoldsEachImageAsItIsAlone) {
  TrainingConfig config = tiny("eps_precision",
                               {"inpaint_random:missing=0.5..0.7",
                                "super_resolution:factor=4",
                                "blur_motion:length=5..9,step=2,angle=0..180"});
  config.sigma_y = "0.01..0.1";
  config.preconditioning = "anisotropic";
  config.prior_mean = "neighbours";
  Session session(config, synthetic(32));
  const c10::NoGradGuard no_grad;
  const Checkpoint model = session.trainer.network();
  const int64_t n = 12;
  const TrainingBatch batch = session.source.draw(0, n);
  ASSERT_EQ(batch.groups.size(), 3u);
  std::vector<TrainingGroup> alone;
  for (int64_t i = 0; i < n; ++i) alone.push_back(session.source.draw(i, 1).groups[0]);
  // A group keeps the order of its images.
  const auto basis = [](const TrainingGroup& group) {
    return group.problem.A->spectral()->basis();
  };
  TrainingBatch sorted;
  for (const TrainingGroup& group : batch.groups)
    for (const TrainingGroup& one : alone)
      if (basis(one) == basis(group)) sorted.groups.push_back(one);
  ASSERT_EQ(sorted.groups.size(), static_cast<size_t>(n));
  const JoinedBatch together(model.preconditioning, model.input, batch);
  const JoinedBatch one_by_one(model.preconditioning, model.input, sorted);
  const auto close = [](const Tensor& a, const Tensor& b) { return a.allclose(b, 1e-4, 1e-5); };
  EXPECT_TRUE(together.x0().equal(one_by_one.x0()));
  EXPECT_TRUE(together.sigma().equal(one_by_one.sigma()));
  EXPECT_TRUE(close(together.input(), one_by_one.input()));
  EXPECT_TRUE(close(together.target(), one_by_one.target()));
  EXPECT_TRUE(close(together.answer_scale(), one_by_one.answer_scale()));
  EXPECT_LT(together.answer_scale().min().item<double>(), 0.9);
  EXPECT_TRUE(close(together.mean_square_out(), one_by_one.mean_square_out()));
  EXPECT_TRUE(close(denoise(model, together), denoise(model, one_by_one)));
}

// One image of a group has one noise level, which its coefficients hold as a number.
TEST(JoinedBatch, JoinsGroupsOfOneImage) {
  const TrainingConfig config = tiny("palette", {"identity", "super_resolution_4x"});
  Session session(config, synthetic(32));
  for (int64_t first = 0; first < 8; ++first) {
    const TrainingBatch batch = session.source.draw(first, 2);
    const JoinedBatch all({}, session.trainer.network().input, batch);
    EXPECT_EQ(all.mean_square_out().sizes(), at::IntArrayRef({2, 1, 1, 1}));
    const Tensor variance = all.sigma().square();
    EXPECT_TRUE(all.mean_square_out().allclose(variance * 0.25 / (variance + 0.25), 1e-5));
  }
}

}  // namespace
}  // namespace eps::training
