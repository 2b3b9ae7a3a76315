// Training on bridges: batches, bands of noise levels, learning, previews.
#include <cmath>

#include "eps/diffusion/bridge.h"
#include "eps/io/images/image.h"
#include "eps/training/preview.h"
#include "tests/files.h"
#include "tests/training/training_session.h"

namespace eps::training {
namespace {

constexpr int64_t kSide = 16;

TrainingConfig bridging(const std::string& input, const std::vector<std::string>& tasks) {
  TrainingConfig config = tiny(input, tasks);
  config.batch = 16;
  config.learning_rate = 5e-3;
  return config;
}

// Without measurement noise the same images group again have the same x1.
TEST(BridgeTraining, BatchesLieOnTheBridge) {
  const Dataset data = synthetic(16);
  const int64_t n = 400;
  for (const NetworkInput& input : {NetworkInput::indi, NetworkInput::i2sb}) {
    SCOPED_TRACE(to_string(input));
    const Bridge& bridge = bridge_of(input);
    TrainingConfig config =
        bridging(to_string(input), {"random_inpainting", "super_resolution_4x"});
    config.sigma_y = "0";
    const BatchSource source(data, batch_options(config), at::kCPU);
    const TrainingBatch batch = source.draw(0, n);
    const std::vector<ProblemGroup> groups = source.make_problems(0, n);
    ASSERT_EQ(groups.size(), 2u);
    ASSERT_EQ(batch.groups.size(), 2u);
    std::vector<Tensor> sigmas, residuals;
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto& [problem, x0, query] = batch.groups[g];
      ASSERT_TRUE(identical(groups[g].x0, x0));
      EXPECT_FALSE(query.A || query.side.defined());
      const Tensor x1 = groups[g].problem.A->format().picture(groups[g].problem.y);
      const Tensor w = bridge.weight(query.sigma);
      sigmas.push_back(query.sigma);
      residuals.push_back(query.x - (1 - w) * x0 - w * x1);
    }
    const Tensor sigma = at::cat(sigmas), residual = at::cat(residuals);
    if (input == NetworkInput::indi) {
      EXPECT_LT(residual.abs().max().item<double>(), 1e-6);
    } else {
      const Tensor white = (residual / bridge.variance(sigma).sqrt()).to(at::kDouble);
      const double numbers = static_cast<double>(white.numel());
      EXPECT_NEAR(white.mean().item<double>(), 0, 5 / std::sqrt(numbers));
      EXPECT_NEAR(white.square().mean().item<double>(), 1, 5 * std::sqrt(2 / numbers));
    }
    // t is uniform: as many below each of these as there should be.
    for (const double t : {0.1, 0.5, 0.8}) {
      const Tensor below = sigma < bridge.sigma(scalar(t)).item<double>();
      EXPECT_NEAR(below.sum().item<double>(), t * n, 5 * std::sqrt(n * t * (1 - t))) << t;
    }
  }
}

TEST(BridgeTraining, AnImageDoesNotDependOnItsBatch) {
  const Dataset data = synthetic(16);
  const BatchSource source(data, batch_options(bridging("i2sb", {"box_inpainting"})), at::kCPU);
  const TrainingGroup whole = source.draw(0, 8).groups[0], part = source.draw(4, 4).groups[0];
  EXPECT_TRUE(identical(whole.query.x.slice(0, 4, 8), part.query.x));
  EXPECT_TRUE(identical(whole.query.sigma.slice(0, 4, 8), part.query.sigma));
}

TEST(BridgeTraining, BandsEndWhereTheBridgeDoes) {
  const Dataset data = synthetic(16);
  const BatchSource source(data, batch_options(bridging("i2sb", {"box_inpainting"})), at::kCPU);
  const auto range = [&](const Range& band) {
    const Tensor sigma = source.draw_in_band(0, 64, band).groups[0].query.sigma;
    return Range{sigma.min().item<double>(), sigma.max().item<double>()};
  };
  const double last = bridge_of(NetworkInput::i2sb).sigma_max();
  EXPECT_EQ(source.sigma_max(), last);
  EXPECT_GE(range({0.3, 1}).low, 0.3);
  EXPECT_LE(range({0.3, 1}).high, last + 1e-6);
  EXPECT_NEAR(range({3, 10}).low, last, 1e-6);
  EXPECT_NEAR(range({3, 10}).high, last, 1e-6);
}

// The loss on held-out images falls by these factors in 100 steps, and there is none where no
// bridge is.
TEST(BridgeTraining, TheTinyPresetLearns) {
  for (const auto& [input, factor] : {std::pair{"indi", 1.6}, {"i2sb", 1.25}}) {
    SCOPED_TRACE(input);
    const TrainingConfig config = bridging(input, {"all"});
    const Dataset data = synthetic(256), fresh = synthetic(64, ",seed=1");
    const BatchSource source(data, batch_options(config), at::kCPU);
    const BatchSource held_out(fresh, batch_options(config), at::kCPU);
    Trainer trainer(initial_network(config, data), source, trainer_options(config));
    const auto loss = [&] { return validation_loss(trainer.average(), held_out, 64, 64, {}); };
    const double first = loss().all;
    for (int i = 0; i < 100; ++i) trainer.step();
    const BandSums::Means last = loss();
    EXPECT_LT(last.all, first / factor) << first;
    EXPECT_EQ(last.images, (std::vector<int64_t>{64, 64, 64, 0, 0, 0}));
    EXPECT_TRUE(std::isnan(last.bands.back()));
  }
}

// Rows of a preview: the image, picture(y), the network's answer to it, two samples.
TEST(BridgeTraining, PreviewsCrossTheBridge) {
  for (const NetworkInput& input : {NetworkInput::indi, NetworkInput::i2sb}) {
    const TrainingConfig config = bridging(to_string(input), {"super_resolution_4x"});
    const Dataset data = synthetic(8);
    const BatchSource source(data, batch_options(config), at::kCPU);
    Checkpoint model = initial_network(config, data);
    for (const auto& [name, tensor] : model.network.parameters()) tensor.add_(0.01);
    const Tensor grid = preview(model, source, 2);
    const auto row = [&](int64_t i) {
      const int64_t padding = (grid.size(1) - 5 * kSide) / 6;
      return grid.narrow(1, padding + i * (kSide + padding), kSide).narrow(2, padding, kSide);
    };
    const ProblemGroup group = source.make_problems(0, 2)[0];
    const Tensor x1 = group.problem.A->format().picture(group.problem.y);
    const Tensor answer = denoise(model.network,
                                  model.preconditioning,
                                  x1,
                                  scalar(bridge_of(input).sigma_max()),
                                  {.labels = group.problem.labels});
    EXPECT_TRUE(row(0).equal(to_uint8(group.x0)[0]));
    EXPECT_TRUE(row(1).equal(to_uint8(x1)[0]));
    EXPECT_TRUE(row(2).equal(to_uint8(answer)[0]));
    EXPECT_FALSE(row(3).equal(row(2)));
    EXPECT_EQ(row(3).equal(row(4)), input == NetworkInput::indi);
  }
}

}  // namespace
}  // namespace eps::training
