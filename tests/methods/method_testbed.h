// A small inverse problem in dense matrices, with which tests compute a step of a method directly:
// a Gaussian prior, whose denoiser is linear with a known Jacobian, and operators with their dense
// A.
#pragma once

#include <gtest/gtest.h>

#include "eps/methods/method.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "eps/priors/mixture.h"

namespace eps {

struct MethodTestbed {
  explicit MethodTestbed(const std::string& operator_spec, int64_t images = 3)
      : shape{images, 1, 4, 4}, prior(example_mixture({1, 4, 4}, 1, 3)) {
    Rng rng(11);
    like = at::empty({1, 1, 4, 4}, at::kDouble);
    const Operator A_ = make_operator(operator_spec, like, rng);
    Rng streams(12, images);
    problem = observe(A_, prior.sample(streams, images), scalar(0.1), streams);
    A = matrix_of(
        [&](const Tensor& v) { return A_->apply(v); }, like.sizes().vec(), 1, at::kDouble)[0];
    y = rows(A_->format().measured(problem.y));
    m = prior.mean().flatten();
    C = prior.covariance();
    I = at::eye(16, at::kDouble);
  }

  // Convert images to rows of a matrix, (N, d), and back.
  static Tensor rows(const Tensor& images) { return images.flatten(1); }
  Tensor images(const Tensor& flat) const { return flat.reshape(shape); }

  // Return the denoiser's Jacobian K = C (C + s^2 I)^{-1}, and D(x) = m + K (x - m) of each row.
  Tensor K(double s) const { return at::matmul(C, at::linalg_inv(C + s * s * I)); }
  Tensor D(const Tensor& x, double s) const { return m + at::matmul(x - m, K(s).t()); }

  // Returns E[x0 | x, y] of each row from the three precisions, without the pivot.
  Tensor exact_mean(const Tensor& x, double s) const {
    const double measurement = 1 / (sigma_y * sigma_y);
    const Tensor prior_precision = at::linalg_inv(C);
    const Tensor precision = prior_precision + I / (s * s) + measurement * at::matmul(A.t(), A);
    const Tensor weighted =
        at::matmul(prior_precision, m) + x / (s * s) + measurement * at::matmul(y, A);
    return at::matmul(weighted, at::linalg_inv(precision));
  }

  // A `Run` holds the samples of a method, its initial noise, and the generator after that noise.
  struct Run {
    Tensor x;      // (N, d)
    Tensor noise;  // (N, d), standard normal
    Rng rng;       // continues where the method's first step draws
    Cost cost;
  };
  Run run(const std::string& method, const std::string& task = "") const {
    Rng used(21, shape[0]), shadow(21, shape[0]);
    const Tensor noise = shadow.normal(shape);
    const Samples samples =
        sample_posterior(choose_method(method, task), prior, problem, shape, used);
    return {rows(samples.images), rows(noise), shadow, samples.cost};
  }
  // Returns fresh noise, (N, d), in the order in which the method draws it.
  Tensor draw(Rng& rng) const { return rows(rng.normal(shape)); }

  Shape shape;
  Mixture prior;
  Tensor like;
  Problem problem;       // sigma_y = 0.1
  Tensor A, y, m, C, I;  // (M, d), (N, M), (d), (d, d), (d, d)
  double sigma_y = 0.1;
};

// Returns operators on 4 x 4 images that cover every kind of spectrum: a projection, a multiple of
// a projection, and a blur.
inline const std::vector<std::string>& testbed_operators() {
  static const std::vector<std::string> specs = {
      "inpaint_random:missing=0.5", "super_resolution:factor=2", "blur_gaussian:std=0.6,size=3"};
  return specs;
}

inline void expect_cost(const Cost& cost, const Cost& expected) {
  EXPECT_EQ(cost.evaluations, expected.evaluations);
  EXPECT_EQ(cost.vjps, expected.vjps);
  EXPECT_EQ(cost.solves, expected.solves);
}

inline void expect_close(const Tensor& actual, const Tensor& expected, double tolerance = 1e-9) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  const double scale = std::max(1.0, expected.abs().max().item<double>());
  EXPECT_LE((actual - expected).abs().max().item<double>(), tolerance * scale);
}

}  // namespace eps
