// Whitened problems against the dense posterior of Gaussian noise that is not white.
#include "eps/operators/whitened.h"

#include <gtest/gtest.h>

#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "eps/priors/dense.h"
#include "tests/files.h"

namespace eps {
namespace {

constexpr int64_t kFrame = 8;
const Shape kImage{1, 3, kFrame, kFrame};

// The precision A' C^{-1} A and the vector A' C^{-1} y of a likelihood do not change.
void expect_same_likelihood(const Problem& problem, const Problem& white, const Tensor& inverse) {
  const auto matrix = [](const Problem& p) {
    return matrix_of([&](const Tensor& x) { return p.A->apply(x); }, kImage, 1, at::kDouble)[0];
  };
  const Tensor A = matrix(problem), B = matrix(white) / white.sigma_y;
  const Tensor precision = at::matmul(A.t(), at::matmul(inverse, A));
  EXPECT_LT((at::matmul(B.t(), B) - precision).norm().item<double>(),
            1e-9 * precision.norm().item<double>());
  const Tensor b = at::matmul(A.t(), at::matmul(inverse, problem.y.flatten()));
  const Tensor found = at::matmul(B.t(), white.y.flatten() / white.sigma_y);
  EXPECT_LT((found - b).norm().item<double>(), 1e-9 * b.norm().item<double>());
}

Problem problem_of(const std::string& spec) {
  Rng rng(4);
  const Operator A = make_operator(spec, at::empty(kImage, at::kDouble), rng);
  return observe(A, rng.normal(kImage), scalar(0.05), rng);
}

TEST(Whitened, DeviationsOfPixelsAndChannels) {
  for (const std::string spec : {"identity",
                                 "inpaint_random:missing=0.5",
                                 "blur_gaussian:std=0.7,size=5",
                                 "super_resolution:factor=2"}) {
    const Problem problem = problem_of(spec);
    Rng rng(5);
    for (const Shape& shape : {problem.y.sizes().vec(), Shape{1, 3, 1, 1}, Shape{1, 1, 1, 1}}) {
      SCOPED_TRACE(spec + " " + to_string(shape));
      const Tensor deviation = rng.uniform(shape) + 0.1;
      const Problem white = whiten(problem, deviation);
      const Tensor inverse = at::diag(deviation.expand_as(problem.y).flatten().pow(-2));
      expect_same_likelihood(problem, white, inverse);
      // Masks keep their basis under every map, blurs under one deviation for each channel.
      const bool pixels = spec == "identity" || spec.starts_with("inpaint");
      const bool blurred = spec.starts_with("blur") && shape[2] == 1;
      EXPECT_TRUE(white.A->spectral() || !(pixels || blurred));
      const Tensor r = rng.normal(problem.y.sizes().vec());
      const Tensor u = white.A->ridge(r, scalar(0.01));
      const Tensor rest = white.A->adjoint(r - white.A->apply(u)) - 0.01 * u;
      EXPECT_LT(rest.abs().max().item<double>(), 1e-9);
      const Tensor x = rng.normal(kImage);
      const Tensor half =
          white.A->functions().filter(x, [](const Tensor& e) { return 1 / (e + 1); });
      const Tensor back = half + white.A->adjoint(white.A->apply(half));
      EXPECT_LT((back - x).norm().item<double>(), 1e-3 * x.norm().item<double>());
      EXPECT_LT((white.A->format().picture(white.y) - problem.A->format().picture(problem.y))
                    .abs()
                    .max()
                    .item<double>(),
                1e-12);
    }
  }
}

TEST(Whitened, AnInfiniteDeviationIsAHole) {
  const Problem problem = problem_of("identity");
  Tensor deviation = at::full(kImage, 0.1, at::kDouble);
  deviation.slice(3, 0, 2).fill_(INFINITY);
  const Problem white = whiten(problem, deviation);
  EXPECT_EQ(white.measurements().item<double>(), 3 * kFrame * (kFrame - 2));
  EXPECT_EQ(white.A->format().picture(white.y).slice(3, 0, 2).abs().max().item<double>(), 0);
}

TEST(Whitened, ColouredNoise) {
  const Tensor spectrum = Rng(6).uniform({kFrame, kFrame / 2 + 1}) + 0.05;
  // A real field has the same power at k and -k, also in the columns that rfft2 keeps whole.
  const Tensor symmetric = (spectrum + spectrum.flip({0}).roll(1, 0)) / 2;
  for (const std::string spec :
       {"identity", "blur_gaussian:std=0.7,size=5", "downscale:factor=1"}) {
    SCOPED_TRACE(spec);
    const Problem problem = problem_of(spec);
    const Problem white = whiten_spectrum(problem, symmetric);
    const Tensor covariance = matrix_of(
        [&](const Tensor& v) { return filter_spectrum(v, symmetric); }, kImage, 1, at::kDouble)[0];
    expect_same_likelihood(problem, white, at::linalg_inv(covariance));
    EXPECT_TRUE(white.A->spectral() || spec.starts_with("downscale"));
  }
  // Of coloured noise under a mask only a part is known, and no filter makes that white.
  EXPECT_NE(error_of([&] {
              whiten_spectrum(problem_of("inpaint_random:missing=0.3"), symmetric);
            }).find("every entry of y must be measured"),
            std::string::npos);
}

// A factor for each channel leaves the basis of a separable operator, and so its closed form.
TEST(Whitened, ChannelsKeepTheBasisOfSeparableOperators) {
  for (const std::string spec :
       {"blur_gaussian:std=0.7,size=3,border=valid", "downscale:factor=2,filter=bicubic"}) {
    const Problem problem = problem_of(spec);
    const Tensor deviation = at::tensor({0.02, 0.05, 0.1}, at::kDouble).reshape({1, 3, 1, 1});
    const Problem white = whiten(problem, deviation);
    ASSERT_NE(white.A->spectral(), nullptr) << spec;
    const Tensor precision = deviation.pow(-2).expand_as(problem.y).flatten();
    expect_same_likelihood(problem, white, precision.diag());
    const Tensor x = Rng(4).normal(kImage);
    const Tensor half = white.A->spectral()->filter(x, [](const Tensor& e) { return 1 / (e + 1); });
    const Tensor back = half + white.A->adjoint(white.A->apply(half));
    EXPECT_LT((back - x).norm().item<double>(), 1e-10 * x.norm().item<double>()) << spec;
  }
}

TEST(Whitened, NoiseGrowsWithTheSignal) {
  const Tensor y = at::tensor({-1.2, -1.0, 0.0, 1.0}, at::kDouble).reshape({1, 1, 2, 2});
  const Tensor found = signal_deviation(y, 0.03, 0.01).square().flatten();
  const Tensor wanted = at::tensor({0.0009, 0.0009, 0.0109, 0.0209}, at::kDouble);
  EXPECT_LT((found - wanted).abs().max().item<double>(), 1e-12);
}

TEST(Whitened, WrongMapsAreNamed) {
  const Problem problem = problem_of("identity");
  EXPECT_EQ(error_of([&] {
              whiten(problem, at::ones({1, 1, 4, 8}));
            }),
            "noise map: a map of 1 x 1 x 4 x 8 does not fit a measurement of 1 x 3 x 8 x 8");
  EXPECT_EQ(error_of([&] {
              whiten(problem, at::zeros({1, 1, 8, 8}));
            }),
            "noise map: deviations must be > 0");
}

}  // namespace
}  // namespace eps
