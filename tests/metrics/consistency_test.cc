// Chi-square of measurements for truths, exact posterior samples and posterior means.
#include "eps/metrics/consistency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/mixture.h"
#include "tests/files.h"

namespace eps {
namespace {

class ChiSquare : public testing::TestWithParam<std::string> {};

// |n|^2/M of M standard normal numbers has the mean 1 and the variance 2/M; measurements that no
// mask leaves are not counted.
TEST_P(ChiSquare, OfTheTruthIsOneAndChunksGiveTheSame) {
  const int64_t N = 3;
  Rng rng(1, N);
  const Tensor x0 = rng.normal({N, 3, 32, 32});
  const Tensor sigma = at::tensor({0.01, 0.1, 2.0}, at::kDouble).reshape({N, 1, 1, 1});
  const Operator A = make_operator(GetParam(), x0, rng);
  const Problem problem = observe(A, x0, sigma, rng);
  const Tensor found = chi_square(problem, x0);
  ASSERT_EQ(found.sizes().vec(), Shape({N}));
  const Tensor noise = (problem.y - A->apply(x0)) / per_sample(sigma, problem.y);
  for (int64_t n = 0; n < N; ++n) {
    const auto M = noise[n].count_nonzero().item<double>();
    EXPECT_NEAR(found[n].item<double>(), noise[n].square().sum().item<double>() / M, 1e-9);
    EXPECT_NEAR(found[n].item<double>(), 1, 5 * std::sqrt(2 / M));
  }
  if (A->format().batch() > 1) return;
  const Problem last{A, problem.y.slice(0, 2), sigma.slice(0, 2), {}};
  EXPECT_NEAR(chi_square(last, x0.slice(0, 2)).item<double>(), found[2].item<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Operators,
                         ChiSquare,
                         testing::Values("identity",
                                         "inpaint_random:missing=0.3..0.9",
                                         "inpaint_box",
                                         "super_resolution:factor=4",
                                         "blur_gaussian:std=1,size=5",
                                         "blur_motion:length=5,angle=20",
                                         "fourier_lines:acceleration=4",
                                         "hadamard:keep=0.25",
                                         "grey",
                                         "super_resolution:factor=4 + inpaint_random"),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

// (x0, y) and (a posterior sample, y) have the same law, so chi-square has the same mean; the
// posterior mean is nearer to y. 400 problems, 5 standard errors from the scatter between them.
TEST(ChiSquareOf, ExactPosteriorSamplesIsOneAndOfTheirMeanIsLess) {
  const Mixture prior = example_mixture({1, 4, 4}, 2, 5);
  const int64_t problems = 400;
  for (const std::string spec : {"inpaint_random:missing=0.5",
                                 "super_resolution:factor=2",
                                 "blur_motion:length=3,angle=20"}) {
    Rng rng(2);
    const Tensor of_sample = at::empty({problems}, at::kDouble),
                 of_mean = at::empty_like(of_sample);
    for (int64_t i = 0; i < problems; ++i) {
      const Tensor x0 = prior.sample(rng, 1);
      const Problem problem = observe(make_operator(spec, x0, rng), x0, scalar(0.3), rng);
      const Mixture posterior = prior.posterior(problem);
      of_sample[i] = chi_square(problem, posterior.sample(rng, 1))[0];
      of_mean[i] = chi_square(problem, posterior.mean().unsqueeze(0))[0];
    }
    const double error = of_sample.std().item<double>() / std::sqrt(static_cast<double>(problems));
    EXPECT_NEAR(of_sample.mean().item<double>(), 1, 5 * error) << spec;
    EXPECT_LT(of_mean.mean().item<double>(), 0.9) << spec;
  }
}

TEST(ChiSquareOf, AMaskCountsItsMeasuredPixelsOnly) {
  const Tensor mask = at::zeros({2, 1, 4, 4});
  mask[0][0][1].fill_(1);     // 4 pixels
  mask[1][0][2][3].fill_(1);  // 1 pixel
  const Tensor y = at::full({2, 1, 4, 4}, 3.0);
  const Tensor found = chi_square({inpainting(mask), y, scalar(0.5), {}}, at::ones({2, 1, 4, 4}));
  EXPECT_EQ(found.scalar_type(), at::kDouble);
  EXPECT_TRUE(found.allclose(at::full({2}, 16, at::kDouble)));  // ((3 - 1)/0.5)^2
}

TEST(ChiSquareOf, NoiselessMeasurementsIsAnErrorThatSaysSo) {
  const Tensor x = at::zeros({2, 1, 4, 4});
  const std::string message = error_of([&] { chi_square({identity(), x, scalar(0), {}}, x); });
  EXPECT_NE(message.find("sigma_y must be above 0, got 0"), std::string::npos) << message;
  const Tensor one_of_two = at::tensor({0.1, 0.0}, at::kDouble).reshape({2, 1, 1, 1});
  EXPECT_THROW(chi_square({identity(), x, one_of_two, {}}, x), Error);
}

}  // namespace
}  // namespace eps
