// Training on a GPU. Skipped without one.
#include <gtest/gtest.h>

#include "eps/runtime/device.h"
#include "eps/training/initial_network.h"

namespace eps::training {
namespace {

class CudaTraining : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
    prepare_device(device_);
    data_ = read_dataset({"synthetic:size=16,count=64"}, {});
    data_.to(device_);
  }

  TrainingConfig tiny() const {
    TrainingConfig config;
    config.tasks = {"all"};
    config.preset = "tiny";
    config.batch = 16;
    config.learning_rate = 1e-3;
    config.rampup = 100;
    return resolved(config);
  }

  // All parameters after some steps.
  Tensor trained(const TrainingConfig& config, int64_t steps) const {
    const BatchSource source(data_, batch_options(config), device_);
    Checkpoint start = initial_network(config, data_);
    start.network.to(device_, at::kFloat);
    Trainer trainer(start, source, trainer_options(config));
    for (int64_t i = 0; i < steps; ++i) trainer.step();
    losses_ = trainer.report().loss.all;
    EXPECT_EQ(trainer.recorded(), config.graph && DeviceGraph::available(device_));
    return trainer.network().network.clone().flatten().cpu();
  }

  const at::Device device_{at::kCUDA, 0};
  Dataset data_;
  mutable double losses_ = 0;
};

// Recorded passes are the passes themselves. Adam turns rounding in small gradients into steps of
// the learning rate's size, so parameters agree to a part of what they moved.
TEST_F(CudaTraining, RecordedPassesTrainAsOthersDo) {
  for (const char* preconditioning : {"edm", "anisotropic"}) {
    TrainingConfig config = tiny();
    config.preconditioning = preconditioning;
    const Tensor start = trained(config, 1);  // its learning rate is 0
    const Tensor recorded = trained(config, 12);
    const double recorded_loss = losses_;
    config.graph = false;
    const Tensor launched = trained(config, 12);
    EXPECT_LT(((recorded - launched).norm() / (launched - start).norm()).item<double>(), 0.05);
    EXPECT_NEAR(recorded_loss / losses_, 1, 1e-3) << preconditioning;
  }
}

TEST_F(CudaTraining, LossesFallInEveryPrecision) {
  for (const char* precision : {"float32", "bfloat16", "float16"}) {
    TrainingConfig config = tiny();
    config.precision = precision;
    config.loss_scaling = std::string(precision) == "float16" ? 100 : 1;
    trained(config, 10);
    const double before = losses_;
    trained(config, 200);
    EXPECT_LT(losses_, before * 0.8) << precision;
  }
}

// Crops are drawn on the CPU, and cut and reduced where the pictures are: the same on every device.
TEST_F(CudaTraining, CropsAreThoseOfTheCpu) {
  for (const double reduce : {1.0, 2.5}) {
    Crops crops(
        read_pictures({"synthetic:size=48,count=3", "synthetic:size=64,count=2,seed=1"}, {}),
        {.side = 16, .reduce = reduce, .transpose = true});
    const std::vector<int64_t> places = {0, 5, 31, 31, 40, 12};
    const auto drawn = [&](at::Device device) {
      Rng rng(3, std::ssize(places));
      return crops.draw(places, rng, device).images.cpu();
    };
    const Tensor wanted = drawn(at::kCPU);
    EXPECT_TRUE(drawn(device_).allclose(wanted, 1e-5, 1e-5));
    crops.to(device_);
    EXPECT_TRUE(drawn(device_).allclose(wanted, 1e-5, 1e-5));
  }
}

}  // namespace
}  // namespace eps::training
