// Blurs that are circular but for a mask or for the border, against dense matrices.
#include "eps/operators/dense_resolvents.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "eps/operators/bordered_blur.h"
#include "eps/operators/edged_blur.h"
#include "eps/operators/registry.h"
#include "eps/priors/dense.h"

namespace eps {
namespace {

constexpr int64_t kSide = 16;

// The first leaves out a border, the second few pixels, the third most of them; the others continue
// the image beyond its frame.
const std::vector<std::string> kSolved = {
    "blur_motion:length=5,angle=30,border=valid",
    "blur_motion:length=5,angle=30 | inpaint_random:missing=0.2",
    "blur_gaussian:std=1,size=5 | inpaint_random:missing=0.8",
    "blur_motion:length=5,angle=30,border=reflect",
    "blur_motion:length=5,angle=30,border=reflect101",
    "blur_motion:length=4,angle=70,border=replicate",
    "blur_disk:radius=2,border=zero"};

Operator solved(const std::string& spec) {
  Rng rng(3);
  return make_operator(spec, at::empty({1, 1, kSide, kSide}, at::kDouble), rng);
}

Tensor normal_matrix(const LinearOperator& A) {
  return matrix_of([&](const Tensor& x) { return A.adjoint(A.apply(x)); },
                   {1, 1, kSide, kSide},
                   1,
                   at::kDouble)
      .squeeze(0);
}

TEST(DenseResolvents, RidgeIsTheDenseOne) {
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    EXPECT_EQ(A->spectral(), nullptr) << spec;
    EXPECT_TRUE(A->closed_form()) << spec;
    const Tensor M = normal_matrix(*A);
    const Tensor y = A->apply(Rng(1).normal({1, 1, kSide, kSide}));
    for (const double lambda : {4e-7, 1e-3, 1.0, 1e3}) {
      const Tensor wanted =
          at::linalg_solve(M + lambda * at::eye(M.size(0), M.options()), A->adjoint(y).flatten());
      const Tensor found = A->ridge(y, scalar(lambda)).flatten();
      EXPECT_LT(((found - wanted).norm() / wanted.norm()).item<double>(), 1e-7)
          << spec << ", lambda " << lambda;
    }
  }
}

// The pivot at sigma = 80 of a measurement whose noise is that of rounding to 8 bits.
TEST(DenseResolvents, RidgeHoldsAtTheNoiseOfRounding) {
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    const Tensor y = A->apply(Rng(1).normal({1, 1, kSide, kSide}));
    const double lambda = 1e-10;
    const Tensor u = A->ridge(y, scalar(lambda));
    // In the norm of A'A + lambda, where the reference is the residual itself.
    const Tensor residual = A->adjoint(A->apply(u) - y) + lambda * u;
    EXPECT_LT((residual.norm() / A->adjoint(y).norm()).item<double>(), 1e-8) << spec;
  }
}

// The memory of large batches is bounded by taking some images at a time.
TEST(DenseResolvents, ManyImagesAreTakenInPieces) {
  const int64_t n = 67;
  const Tensor p = at::linspace(0.1, 1, n, at::kDouble).reshape({n, 1, 1, 1});
  const auto of = [](const Tensor& p) {
    return [p](const Tensor& e) { return (e + p.to(e.options())).rsqrt(); };
  };
  const Operator A = solved(kSolved[0]);
  const Tensor x = Rng(1).normal({n, 1, kSide, kSide}), y = A->apply(x);
  const auto one = [&](int64_t i) { return scalar(p.flatten()[i].item<double>()); };
  const std::vector<Tensor> all = A->functions().filters(x, {of(p), of(one(0))});
  const Tensor pivots = A->ridge(y, p);
  for (const int64_t i : {0, 63, 64, 66}) {
    const auto own = [&](const Tensor& t) { return t.slice(0, i, i + 1); };
    const std::vector<Tensor> alone = A->functions().filters(own(x), {of(one(i)), of(one(0))});
    // A fit has as many terms as the images together need.
    EXPECT_LT((own(all[0]) - alone[0]).abs().max().item<double>(), 2e-3);
    EXPECT_LT((own(all[1]) - alone[1]).abs().max().item<double>(), 2e-3);
    EXPECT_LT((own(pivots) - A->ridge(own(y), one(i))).abs().max().item<double>(), 1e-6);
  }
}

// What is kept from sampling serves derivatives.
TEST(DenseResolvents, FollowInferenceModeAndChangesInPlace) {
  const auto root = [](const Tensor& e) { return (e + 1).sqrt(); };
  for (const auto& spec : {kSolved[0], kSolved[4]}) {
    const Operator A = solved(spec);
    const Tensor x = Rng(1).normal({1, 1, kSide, kSide});
    {
      const c10::InferenceMode sampling;
      A->functions().filter(x.clone(), root);
    }
    const Tensor leaf = x.clone().requires_grad_();
    {
      const c10::NoGradGuard no_grad;
      A->functions().filter(leaf, root);
    }
    const Tensor value = A->functions().filter(leaf, root);
    value.sum().backward();
    // f(A'A) is symmetric: the gradient of the sum is f(A'A) 1.
    const Tensor wanted = A->functions().filter(at::ones_like(x), root);
    EXPECT_LT((leaf.grad() - wanted).abs().max().item<double>(), 1e-10) << spec;
    const Tensor changing = x.clone();
    A->functions().filter(changing, root);
    changing.mul_(2);
    const Tensor twice = A->functions().filter(changing, root);
    EXPECT_LT((twice - 2 * value).abs().max().item<double>(), 1e-10) << spec;
  }
}

// Lambdas of each image are solved by corrections, one of all images by a matrix of its own.
TEST(DenseResolvents, EachImageMayHaveItsOwnLambda) {
  const Tensor lambda = at::tensor({4e-7, 1e-2, 3.0}, at::kDouble).reshape({3, 1, 1, 1});
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    const Tensor y = A->apply(Rng(1).normal({3, 2, kSide, kSide}));
    const Tensor together = A->ridge(y, lambda);
    for (int64_t n = 0; n < 3; ++n) {
      const Tensor alone = A->ridge(y.slice(0, n, n + 1), scalar(lambda[n].item<double>()));
      const Tensor error = (together.slice(0, n, n + 1) - alone).norm() / alone.norm();
      EXPECT_LT(error.item<double>(), 1e-7) << spec << ", lambda " << lambda[n].item<double>();
    }
  }
}

// Below the smallest shift no corrections converge, and each image has a matrix of its own.
TEST(DenseResolvents, LambdasBelowTheShiftsAreSolved) {
  const Tensor lambda = at::tensor({1e-10, 2e-10}, at::kDouble).reshape({2, 1, 1, 1});
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    const Tensor y = A->apply(Rng(1).normal({2, 1, kSide, kSide}));
    const Tensor u = A->ridge(y, lambda);
    const Tensor residual = A->adjoint(A->apply(u) - y) + lambda * u;
    EXPECT_LT((residual.norm() / A->adjoint(y).norm()).item<double>(), 1e-8) << spec;
  }
}

// The scales of a network at noise levels from 80 to 0.02 have relative errors of 2e-3 at most, in
// every direction: also where c_in is 1/80.
TEST(DenseResolvents, FunctionsAreTheDenseOnes) {
  const double p = 0.25, noise = 0.0025;
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    const auto [e, Q] = at::linalg_eigh(normal_matrix(*A));
    for (const double sigma : {80.0, 5.0, 0.5, 0.02}) {
      const auto v = [&](const Tensor& e) { return 1 / (1 / (sigma * sigma) + e / noise); };
      const std::vector<EigenvalueMap> functions = {
          [&](const Tensor& e) { return (v(e) + p).rsqrt(); },
          [&](const Tensor& e) { return p / (v(e) + p); },
          [&](const Tensor& e) { return (v(e) * p / (v(e) + p)).sqrt(); }};
      for (const EigenvalueMap& f : functions) {
        const Tensor gain = f(e.clamp_min(0));
        const Tensor x = (Q / gain).t().reshape({-1, 1, kSide, kSide});  // f(A'A) makes them units
        const Tensor found = A->functions().filter(x, f).flatten(1);
        EXPECT_LT((found - Q.t()).norm(2, {1}).max().item<double>(), 2e-3) << spec << ' ' << sigma;
      }
    }
  }
}

TEST(DenseResolvents, DiagonalIsTheDenseOne) {
  for (const auto& spec : kSolved) {
    const Operator A = solved(spec);
    const Tensor like = at::empty({1, 1, kSide, kSide}, at::kDouble);
    const Tensor wanted = normal_matrix(*A).diagonal().reshape(like.sizes());
    EXPECT_LT((A->functions().normal_diagonal(like) - wanted).abs().max().item<double>(), 1e-12);
  }
}

TEST(DenseResolvents, AnEdgedBlurIsTheBlurWithItsBorder) {
  const Tensor kernel = Rng(5).uniform({1, 4, 5});  // of unequal sides, and no product
  const CircularBlur wrapped(kernel, kSide, kSide);
  const Tensor x = Rng(1).normal({2, 3, kSide, kSide});
  for (const Border border : {Border::reflect101, Border::replicate, Border::zero}) {
    const BorderedBlur A(kernel, kSide, kSide, border);
    const Tensor apart = (A.apply(x) - wrapped.apply(x)).abs().amax(at::IntArrayRef({0, 1}));
    const EdgedBlur same(wrapped, A, places_where(apart > 1e-9));
    EXPECT_LT((same.apply(x) - A.apply(x)).abs().max().item<double>(), 1e-12);
    EXPECT_LT((same.adjoint(x) - A.adjoint(x)).abs().max().item<double>(), 1e-12);
  }
}

TEST(DenseResolvents, SolveOnOddFramesInSinglePrecision) {
  Rng rng(3);
  const Tensor x = rng.normal({2, 3, 15, 11}).to(at::kFloat);
  for (const char* border : {"valid", "reflect101", "replicate", "zero"}) {
    const Operator A =
        make_operator(std::string("blur_motion:length=5,angle=30,border=") + border, x, rng);
    const Tensor y = A->apply(x);
    const Tensor u = A->ridge(y, scalar(0.01).to(at::kFloat));
    EXPECT_EQ(u.scalar_type(), at::kFloat) << border;
    const Tensor residual = A->adjoint(A->apply(u)) + 0.01 * u - A->adjoint(y);
    EXPECT_LT(residual.abs().max().item<double>(), 2e-5) << border;
  }
}

TEST(DenseResolvents, KeepNothingAndEverything) {
  Rng rng(0);
  const Tensor x = rng.normal({2, 3, kSide, kSide});
  for (const char* missing : {"0", "1"}) {
    const Operator A = make_operator(
        std::string("blur_motion:length=5,angle=30 | inpaint_random:missing=") + missing, x, rng);
    const Tensor y = A->apply(x);
    const Tensor u = A->ridge(y, scalar(0.01));
    const Tensor residual = A->adjoint(A->apply(u)) + 0.01 * u - A->adjoint(y);
    EXPECT_LT(residual.abs().max().item<double>(), 1e-8) << missing;
  }
}

}  // namespace
}  // namespace eps
