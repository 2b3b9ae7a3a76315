// Replayed evaluations are the evaluations themselves. Those on a GPU are skipped without one.
#include "eps/methods/recorded_mean.h"

#include <gtest/gtest.h>

#include "eps/methods/oracle.h"
#include "eps/model/network_denoiser.h"
#include "eps/operators/dense_basis.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"
#include "eps/runtime/device.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

// Returns a network for the posterior with all that a query may have: side channels, the data's
// spectrum, the linear estimate, a prior mean.
Checkpoint local_posterior(at::Device device) {
  nets::UNetConfig config = small_local();
  const NetworkInput input =
      NetworkInput::pivot_sigma.with(Channel::y).with(Channel::precision).with(Channel::skip);
  config.in_channels = input.channels(config.img_channels);
  Checkpoint checkpoint{.network = wave_network(config),
                        .preconditioning = {.kind = Preconditioning::Kind::anisotropic,
                                            .prior_variance = "geometric_mean",
                                            .prior_mean = "neighbours",
                                            .spectrum = natural_spectrum(16, 32)[0].to(at::kFloat)},
                        .input = input};
  checkpoint.network.to(device, at::kFloat);
  return checkpoint;
}

// Returns the examples of operators that are diagonal in a fast basis, for images of 3 channels.
std::vector<std::string> fast_specs() {
  std::vector<std::string> specs;
  for (const auto& [name, entry] : operators()) {
    if (entry.example.empty() || channels_of(entry.example, 3) != 3) continue;
    Rng rng(3);
    if (make_operator(entry.example, at::empty({1, 3, 16, 32}), rng)->spectral())
      specs.push_back(entry.example);
  }
  return specs;
}

struct Testbed {
  Testbed(const std::string& spec, at::Device device) : checkpoint(local_posterior(device)) {
    Rng rng(5, 2);
    x0 = (waves({2, 3, 16, 32}) / 4).to(device);
    A = for_many_evaluations(make_operator(spec, x0, rng), x0, 1 << 20);
    problem = observe(A, x0, scalar(0.05), rng);
  }
  Tensor state(double sigma, uint64_t seed) const {
    return x0.to(at::kDouble) + sigma * Rng(seed, 2).normal(x0.sizes().vec()).to(x0.device());
  }

  Checkpoint checkpoint;
  Tensor x0;
  Operator A;
  Problem problem;
};

// Posterior networks are asked at levels on the host; a recording asks at a level on the device.
TEST(RecordedMean, ALevelOfEachImageAnswersAsANumber) {
  const c10::NoGradGuard no_grad;
  for (const std::string& spec : fast_specs()) {
    SCOPED_TRACE(spec);
    const Testbed bed(spec, at::kCPU);
    const NetworkDenoiser denoiser(bed.checkpoint);
    for (const double sigma : {50.0, 0.7, 0.02}) {
      const Tensor x_t = bed.state(sigma, 6);
      const auto mean = [&](const Tensor& level) {
        return denoiser.mean(
            make_query(*denoiser.input_for(NetworkInput::eps), bed.problem, x_t, edm().at(level)));
      };
      EXPECT_LT(
          relative_error(mean(at::full({2, 1, 1, 1}, sigma, at::kDouble)), mean(scalar(sigma))),
          1e-5);
    }
  }
}

TEST(RecordedMean, IsEvaluatedOnACpu) {
  const Testbed bed("inpaint_random:missing=0.5", at::kCPU);
  EXPECT_FALSE(RecordedMean::pays(bed.problem, bed.x0, edm().at(scalar(1))));
  int evaluations = 0;
  RecordedMean mean([&](const Tensor& x_t, const Coefficients&) {
    ++evaluations;
    return x_t + 1;
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(at::equal(mean(bed.problem, bed.x0, edm().at(scalar(1))), bed.x0 + 1));
  EXPECT_EQ(evaluations, 3);
  EXPECT_FALSE(mean.replays());
}

class CudaRecordedMean : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
    if (!DeviceGraph::available(device_)) GTEST_SKIP() << "built without CUDA";
    prepare_device(device_);
  }
  const c10::NoGradGuard no_grad_;
  const at::Device device_{at::kCUDA, 0};
};

// Other levels and states than those recorded, and the cost is counted as if all were evaluated.
TEST_F(CudaRecordedMean, AnswersAsEvaluationsDo) {
  std::vector<std::string> specs = fast_specs();
  specs.insert(specs.end(),
               {"blur_motion:length=5,angle=30,border=valid",
                "blur_motion:length=5,angle=30,border=reflect101",
                "blur_disk:radius=1.5 | super_resolution:factor=2"});
  for (const std::string& spec : specs) {
    SCOPED_TRACE(spec);
    const Testbed bed(spec, device_);
    const NetworkDenoiser denoiser(bed.checkpoint);
    Oracle replaying(denoiser, bed.problem);
    Cost evaluated;
    uint64_t seed = 6;
    for (const double sigma : {50.0, 5.0, 0.7, 0.1, 0.02}) {
      const Tensor x_t = bed.state(sigma, ++seed);
      const Coefficients c = edm().at(scalar(sigma));
      Oracle evaluating(denoiser, bed.problem);
      const Tensor wanted = evaluating.posterior_mean(NetworkInput::eps, x_t, c);
      EXPECT_FALSE(evaluating.replays());
      const Tensor found = replaying.posterior_mean(NetworkInput::eps, x_t, c);
      EXPECT_EQ(replaying.replays(), seed > 7);
      EXPECT_EQ(found.scalar_type(), at::kDouble);
      EXPECT_LT(relative_error(found.cpu(), wanted.cpu()), 1e-5) << sigma;
      evaluated += evaluating.cost();
    }
    EXPECT_EQ(replaying.cost().evaluations, evaluated.evaluations);
    EXPECT_EQ(replaying.cost().solves, evaluated.solves);
  }
}

TEST_F(CudaRecordedMean, OfAnotherSizeIsEvaluatedAndRecordedAnew) {
  const Testbed bed("blur_gaussian:std=1,size=7,border=valid", device_);
  const NetworkDenoiser denoiser(bed.checkpoint);
  Oracle oracle(denoiser, bed.problem);
  const Coefficients c = edm().at(scalar(0.7));
  const Tensor both = bed.state(0.7, 6), one = both.slice(0, 0, 1);
  const auto mean = [&](const Tensor& x) {
    return oracle.posterior_mean(NetworkInput::eps, x, c).cpu();
  };
  const Tensor wanted = mean(both);
  EXPECT_LT(relative_error(mean(both), wanted), 1e-5);
  ASSERT_TRUE(oracle.replays());
  mean(one);
  EXPECT_FALSE(oracle.replays());
}

// Answers stay as they were given when the recording goes on.
TEST_F(CudaRecordedMean, KeepsEarlierAnswers) {
  const Testbed bed("inpaint_random:missing=0.5", device_);
  const NetworkDenoiser denoiser(bed.checkpoint);
  Oracle oracle(denoiser, bed.problem);
  const Tensor x = bed.state(5, 6).to(at::kFloat);
  const auto mean = [&](double sigma) {
    return oracle.posterior_mean(NetworkInput::eps, x, edm().at(scalar(sigma)));
  };
  mean(5);
  const Tensor first = mean(5), copy = first.clone();
  const Tensor second = mean(0.5);
  EXPECT_TRUE(at::equal(first, copy));
  EXPECT_FALSE(at::equal(first, second));
}

// Where the host has to decide, nothing is recorded.
TEST_F(CudaRecordedMean, LeavesOthersToEvaluations) {
  const Testbed chain("blur_gaussian:std=1 | grey", device_);
  EXPECT_FALSE(RecordedMean::pays(chain.problem, chain.x0, edm().at(scalar(1))));
  const Testbed mask("inpaint_random:missing=0.5", device_);
  EXPECT_TRUE(RecordedMean::pays(mask.problem, mask.x0, edm().at(scalar(1))));
  EXPECT_FALSE(RecordedMean::pays(mask.problem, mask.x0, vp_linear().at(scalar(0.5))));
  const Tensor levels = at::ones({2, 1, 1, 1}, mask.x0.options());
  EXPECT_FALSE(RecordedMean::pays(mask.problem, mask.x0, edm().at(levels)));
  const Tensor large = at::empty({2, 3, 1024, 1024}, mask.x0.options());
  EXPECT_FALSE(RecordedMean::pays(mask.problem, large, edm().at(scalar(1))));
}

// What waits for the device cannot be recorded; it is evaluated, and so is all that follows.
TEST_F(CudaRecordedMean, EvaluatesWhatCannotBeRecorded) {
  const Testbed bed("inpaint_random:missing=0.5", device_);
  RecordedMean mean(
      [](const Tensor& x_t, const Coefficients& c) { return x_t + c.beta.item<double>(); });
  for (const double sigma : {3.0, 2.0, 1.0}) {
    const Tensor found = mean(bed.problem, bed.x0, edm().at(scalar(sigma)));
    EXPECT_TRUE(at::equal(found, bed.x0 + sigma));
    EXPECT_FALSE(mean.replays());
  }
  EXPECT_EQ(at::ones({4}, bed.x0.options()).sum().item<float>(), 4);
}

}  // namespace
}  // namespace eps
