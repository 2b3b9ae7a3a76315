// The same answers on a GPU: operators, pivots, samplers and random numbers. Skipped without one.
#include <gtest/gtest.h>

#include "eps/diffusion/pivot.h"
#include "eps/diffusion/sampler.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"

namespace eps {
namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  }
};

double relative_error(const Tensor& value, const Tensor& wanted) {
  return ((value.cpu() - wanted).norm() / wanted.norm()).item<double>();
}

TEST_F(Cuda, OperatorsAndPivotsAgreeWithTheCpu) {
  std::vector<std::string> specs = {"blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5",
                                    "super_resolution:factor=4 + grey"};
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) specs.push_back(entry.example);
  for (const auto& spec : specs) {
    SCOPED_TRACE(spec);
    const Shape image{2, channels_of(spec, 3), 16, 32};
    Rng host_rng(3, 2), device_rng(3, 2);
    const Operator host = make_operator(spec, at::empty(image, at::kDouble), host_rng);
    const Operator device = make_operator(
        spec, at::empty(image, at::TensorOptions(at::kCUDA).dtype(at::kDouble)), device_rng);
    const Tensor x = Rng(4).normal(image);
    const Tensor y = host->apply(x);
    EXPECT_LT(relative_error(device->apply(x.cuda()), y), 1e-12);
    EXPECT_LT(relative_error(device->adjoint(y.cuda()), host->adjoint(y)), 1e-12);
    EXPECT_LT(relative_error(device->ridge(y.cuda(), scalar(1e-3)), host->ridge(y, scalar(1e-3))),
              1e-7);
    const Tensor x_t = 2 * Rng(5).normal(image);
    for (const double sigma_y : {0.05, 0.0}) {
      const Tensor wanted = pivot({host, y, scalar(sigma_y)}, x_t, edm().at(scalar(2)));
      EXPECT_LT(
          relative_error(
              pivot({device, y.cuda(), scalar(sigma_y)}, x_t.cuda(), edm().at(scalar(2))), wanted),
          1e-6);
      const Tensor single = pivot({device, y.cuda().to(at::kFloat), scalar(sigma_y)},
                                  x_t.cuda().to(at::kFloat),
                                  edm().at(scalar(2)));
      EXPECT_EQ(single.scalar_type(), at::kFloat);
      if (sigma_y > 0) {
        EXPECT_LT(relative_error(single.to(at::kDouble), wanted), 1e-4);
      }
    }
  }
}

// Same seed, same noise, to the last bit; so the same samples, to rounding.
TEST_F(Cuda, SamplesAreTheCpusSamples) {
  EXPECT_TRUE(Rng(1)
                  .normal({1000}, at::TensorOptions(at::kCUDA).dtype(at::kFloat))
                  .cpu()
                  .equal(Rng(1).normal({1000}, at::kFloat)));
  const Stationary prior(at::zeros({3, 16, 16}), natural_spectrum(16, 16));
  for (const auto& solver : solvers()) {
    SamplerOptions options;
    options.solver = solver;
    options.eta = 0.5;
    options.churn.S_churn = 5;
    Tensor answers[2];
    for (const bool gpu : {false, true}) {
      const at::TensorOptions where =
          at::TensorOptions(gpu ? at::kCUDA : at::kCPU).dtype(at::kDouble);
      Rng draw(1, 4), rng(2, 4);
      const Operator A = make_operator(
          "blur_motion:length=5..9,step=2,angle=0..180", at::empty({4, 3, 16, 16}, where), draw);
      const Problem problem =
          observe(A, prior.sample(draw, {4, 3, 16, 16}).to(where), scalar(0.05), draw);
      answers[gpu] =
          sample(posterior_mean(prior, problem, edm()), edm(), {4, 3, 16, 16}, options, rng, where);
    }
    EXPECT_TRUE(answers[1].is_cuda());
    EXPECT_LT(relative_error(answers[1], answers[0]), 1e-7) << solver;
  }
}

}  // namespace
}  // namespace eps
