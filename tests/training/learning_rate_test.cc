// The learning rate of a run from its first step to its last.
#include <gtest/gtest.h>

#include "tests/files.h"
#include "tests/training/training_session.h"

namespace eps::training {
namespace {

// The rate rises over 200 images and falls over the last 64; another end moves the fall.
TEST(Training, TheLearningRateFallsOverTheLastImages) {
  TrainingConfig config = tiny("prior", {});
  config.images = 160;
  config.decay = 64;
  Session session(config, synthetic(16));
  for (int64_t seen = 0; seen <= 160; seen += 8) {
    const double rise = static_cast<double>(seen) / 200;
    const double fall = std::min(static_cast<double>(160 - seen) / 64, 1.0);
    EXPECT_DOUBLE_EQ(session.trainer.learning_rate(), 2e-3 * rise * fall) << seen;
    if (seen < 160) session.steps(1);
  }
  const Tensor last = session.trainer.network().network.clone().flatten();
  session.steps(1);  // at a rate of 0
  EXPECT_TRUE(identical(session.trainer.network().network.clone().flatten(), last));
  TrainingConfig longer = config;
  longer.images = 320;
  check_resumable(config, longer);
  Session resumed(longer, synthetic(16));
  resumed.trainer.restore(session.trainer.state());
  EXPECT_DOUBLE_EQ(resumed.trainer.learning_rate(), 2e-3 * 168 / 200);
  EXPECT_EQ(error_of([&] {
              config.decay = 161;
              resolved(config);
            }),
            "training: decay must be at most images, 160; got 161");
}

}  // namespace
}  // namespace eps::training
