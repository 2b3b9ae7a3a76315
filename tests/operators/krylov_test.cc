// Functions of A'A without a fast basis, against dense matrices.
#include "eps/operators/krylov.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/operators/registry.h"
#include "eps/priors/dense.h"

namespace eps {
namespace {

const std::vector<std::string> kComposed = {
    "blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5",
    "super_resolution:factor=2 + inpaint_random:missing=0.5",
    "grey + blur_motion:length=5,angle=30"};

// The eigenvalues (N, n) and eigenvectors (N, n, n) of A'A.
std::tuple<Tensor, Tensor> eigen(const LinearOperator& A, const Shape& image) {
  const Tensor M = matrix_of(
      [&](const Tensor& x) { return A.adjoint(A.apply(x)); }, image, image[0], at::kDouble);
  return at::linalg_eigh(M);
}

// c_skip at the noise level 1: p/(v + p), with v = 1/(1 + e/0.0025) and p = 1/4.
Tensor smooth(const Tensor& e) { return 0.25 / (1 / (1 + e / 0.0025) + 0.25); }

TEST(Krylov, FiltersAsTheEigenvectorsDo) {
  const Shape image{2, 3, 8, 8};
  for (const auto& spec : kComposed) {
    Rng rng(1, 2);
    const Operator A = make_operator(spec, at::empty(image, at::kDouble), rng);
    ASSERT_EQ(A->spectral(), nullptr) << spec;
    const auto [e, Q] = eigen(*A, image);
    const Tensor x = rng.normal(image);
    const Tensor in_basis = at::matmul(Q.transpose(1, 2), x.flatten(1).unsqueeze(2));
    const Tensor wanted = at::matmul(Q, smooth(e.clamp_min(0)).unsqueeze(2) * in_basis);
    const Tensor found = A->functions().filter(x, smooth);
    EXPECT_LT(((found.flatten(1) - wanted.squeeze(2)).norm() / wanted.norm()).item<double>(),
              Krylov::kTolerance)
        << spec;
  }
}

// An image of 8 x 8 pixels has one impulse a probe.
TEST(Krylov, DiagonalsAreThoseOfTheMatrix) {
  const Shape image{2, 3, 8, 8};
  for (const auto& spec : kComposed) {
    Rng rng(1, 2);
    const Tensor like = at::empty(image, at::kDouble);
    const Operator A = make_operator(spec, like, rng);
    const auto [e, Q] = eigen(*A, image);
    const auto diagonal = [&](const Tensor& values) {
      return (Q.square() * values.unsqueeze(1)).sum(2).reshape(image);
    };
    const Spectral& functions = A->functions();
    EXPECT_LT((functions.normal_diagonal(like) - diagonal(e)).abs().max().item<double>(), 1e-12);
    const Tensor wanted = diagonal(smooth(e.clamp_min(0)));
    EXPECT_LT((functions.diagonal(like, smooth) - wanted).abs().max().item<double>(), 1e-4);
    // The estimate's variance is 2/K times that of the entries off the diagonal, below the mean
    // square eigenvalue, over n: K = 4 probes, n = 192; 5 standard errors.
    const Tensor mean = wanted.mean({1, 2, 3}, true);
    const Tensor error = functions.mean_eigenvalue(like, smooth) - mean;
    EXPECT_LT(error.abs().max().item<double>(), 5 * std::sqrt(2.0 / 4 / 192)) << spec;
  }
}

// The kernel and its mirror reach 8 pixels, less than the 16 between the impulses of a probe.
TEST(Krylov, ProbesOfSeveralImpulsesAreExactForLocalOperators) {
  const Shape image{1, 1, 32, 32};
  const Tensor like = at::empty(image, at::kDouble);
  Rng rng(1);
  const Operator A =
      make_operator("blur_gaussian:std=1,size=5 | inpaint_random:missing=0.5", like, rng);
  Tensor impulse = at::zeros(image, at::kDouble);
  const Tensor found = A->functions().normal_diagonal(like);
  for (const int64_t place : {0, 17, 500, 1023}) {
    impulse.zero_().view({-1})[place] = 1;
    EXPECT_NEAR(found.view({-1})[place].item<double>(),
                A->apply(impulse).square().sum().item<double>(),
                1e-12);
  }
}

TEST(Krylov, IsTheSpectrumWhereThereIsOne) {
  Rng rng(1);
  const Operator A = make_operator("inpaint_random:missing=0.5", at::empty({1, 1, 8, 8}), rng);
  EXPECT_EQ(&A->functions(), A->spectral());
}

}  // namespace
}  // namespace eps
