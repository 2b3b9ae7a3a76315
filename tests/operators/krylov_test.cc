// Functions of A'A without a fast basis, against dense matrices.
#include "eps/operators/krylov.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/operators/registry.h"
#include "eps/priors/dense.h"
#include "eps/priors/stationary.h"

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
    EXPECT_LT((functions.diagonal(like, smooth) - wanted).abs().max().item<double>(),
              Krylov::kTolerance);
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

// An operator of which only products are known.
class Opaque final : public LinearOperator {
 public:
  explicit Opaque(Operator inner) : inner_(std::move(inner)) {}
  Tensor apply(const Tensor& x) const override { return inner_->apply(x); }
  Tensor adjoint(const Tensor& y) const override { return inner_->adjoint(y); }

 private:
  const Operator inner_;
};

// Where the eigenvalues of A'A have known powers: two of a mask (which are equal) and of pooling,
// and those of a blur that falls with frequency as the data's spectrum does.
TEST(Krylov, KnowsThePowerAlongEigendirections) {
  const int64_t side = 32;
  const Tensor like = at::empty({1, 1, side, side}, at::kDouble);
  const Tensor spectrum = natural_spectrum(side, side);
  const double mean = spectral_mean(spectrum, side).item<double>();
  const auto at_eigenvalues = [&](const char* spec, const Tensor& e) {
    Rng rng(1);
    const Opaque A(make_operator(spec, like, rng));
    return A.functions().prior_power(spectrum, like)(e.reshape({1, 1, 1, -1})).flatten();
  };
  const Tensor two = at::tensor({0.0, 1.0}, at::kDouble);
  const Tensor of_mask = at_eigenvalues("inpaint_random:missing=0.5", two) / mean;
  EXPECT_LT((of_mask - 1).abs().max().item<double>(), 0.2);
  Rng rng(1);
  const Operator pool = make_operator("super_resolution:factor=4", like, rng);
  const Tensor e = at::tensor({0.0, 1.0 / 16}, at::kDouble);
  const Tensor wanted = pool->spectral()->prior_power(spectrum, like)(e).flatten();
  const Tensor of_pool = at_eigenvalues("super_resolution:factor=4", e);
  EXPECT_LT((of_pool / wanted - 1).abs().max().item<double>(), 0.2) << of_pool << wanted;

  const Operator blur = make_operator("blur_gaussian:std=1,size=9", like, rng);
  const Tensor impulse = unit_impulse(side, side, like.options());
  const Tensor gain = at::fft_rfft2(blur->adjoint(blur->apply(impulse))).abs().flatten();
  const Tensor known = at::logical_and(gain > 0.01, gain < 0.99);
  const Tensor along = at_eigenvalues("blur_gaussian:std=1,size=9", gain.masked_select(known));
  const Tensor ratio = along / spectrum.flatten().masked_select(known);
  const Tensor uniform = mean / spectrum.flatten().masked_select(known);
  EXPECT_LT(ratio.log().abs().mean().item<double>(),
            0.35 * uniform.log().abs().mean().item<double>());
}

// A blur for each image, one ten times as strong: neither changes what the other gets alone.
TEST(Krylov, PowerOfAMapDoesNotDependOnItsNeighbours) {
  class Scaled final : public LinearOperator {
   public:
    Scaled(Operator inner, const Tensor& gain) : inner_(std::move(inner)), gain_(gain) {}
    Tensor apply(const Tensor& x) const override { return gain_ * inner_->apply(x); }
    Tensor adjoint(const Tensor& y) const override { return inner_->adjoint(gain_ * y); }
    int64_t batch() const override { return gain_.size(0); }

   private:
    const Operator inner_;
    const Tensor gain_;
  };
  const Tensor like = at::empty({2, 1, 32, 32}, at::kDouble);
  Rng rng(1);
  const Operator blur = make_operator("blur_gaussian:std=1,size=9", like, rng);
  const Tensor gain = at::tensor({1.0, 10.0}, at::kDouble).reshape({2, 1, 1, 1});
  const Tensor spectrum = natural_spectrum(32, 32);
  const Tensor e = at::logspace(-6, 2, 9, 10.0, at::kDouble).reshape({1, 1, 1, -1});
  const Tensor together = Scaled(blur, gain).functions().prior_power(spectrum, like)(e);
  for (int64_t n = 0; n < 2; ++n) {
    // Two copies, since a shared map is probed more often.
    const Scaled twice(blur, gain.slice(0, n, n + 1).expand({2, 1, 1, 1}));
    const Tensor alone = twice.functions().prior_power(spectrum, like)(e);
    EXPECT_TRUE(together[n].allclose(alone[0], 1e-9)) << n;
  }
}

// The diagonals that operators know are those of their matrices, where probes only estimate.
TEST(Krylov, DiagonalsByStructureAreExact) {
  for (const std::string spec : {"radon:angles=5",
                                 "sense:coils=3,acceleration=2",
                                 "grey + radon:angles=3",
                                 "super_resolution:factor=2 + inpaint_random:missing=0.5"}) {
    const Shape image{1, channels_of(spec, 3), 8, 8};
    Rng rng(1);
    const Tensor like = at::empty(image, at::kDouble);
    const Operator A = make_operator(spec, like, rng);
    ASSERT_TRUE(A->structural_diagonal(like).defined()) << spec;
    const Tensor M = matrix_of(
        [&](const Tensor& x) { return A->apply(x).flatten(1); }, image, 1, at::kDouble)[0];
    const Tensor found = A->functions().normal_diagonal(like).expand_as(like).flatten();
    EXPECT_LT((found - M.square().sum(0)).abs().max().item<double>(), 1e-12) << spec;
  }
}

// The estimate of a diagonal is right in holes and in the mean, and between them nearer than the
// mean alone.
TEST(Krylov, QuickDiagonalsKnowHolesAndTheMean) {
  const auto f = [](const Tensor& e) { return 1 / (e / 0.01 + 0.2); };
  for (const std::string spec :
       {"blur_motion:length=5,angle=30,border=valid",
        "blur_gaussian:std=1,size=5 | inpaint_box:height=12,width=12,position=center",
        "inpaint_box:height=12,width=12,position=center | blur_motion:length=5,angle=30"}) {
    SCOPED_TRACE(spec);
    Rng rng(1);
    const Tensor like = at::empty({1, 1, 32, 32}, at::kDouble);
    const Operator A = make_operator(spec, like, rng);
    const Spectral& functions = A->functions();
    const Tensor M = matrix_of([&](const Tensor& x) { return A->apply(x).flatten(1); },
                               like.sizes().vec(),
                               1,
                               at::kDouble)[0];
    const auto [e, v] = at::linalg_eigh(at::matmul(M.t(), M));
    const Tensor exact = at::matmul(v.square(), f(e.clamp_min(0))).reshape_as(like);
    const Tensor quick = functions.quick_diagonal(like, f).expand_as(like);
    const double mean = exact.mean().item<double>();
    EXPECT_NEAR(quick.mean().item<double>() / mean, 1, 0.05);
    const Tensor holes = functions.normal_diagonal(like) < 1e-12;
    EXPECT_LT(((quick - 5) * holes).abs().max().item<double>(), 1e-9);
    const auto miss = [&](const Tensor& d) {
      return (d / exact).log().abs().mean().item<double>();
    };
    EXPECT_LT(miss(quick), 0.7 * miss(at::full_like(exact, mean)));
  }
}

// Two impulses of a probe meet where y is x_c/20 and x_(c-16), which a triangle of the image lacks:
// without a clamp the estimate of 1/400 there is 1/400 - 1/20.
TEST(Krylov, DiagonalsAreNotNegative) {
  class Ghost final : public LinearOperator {
   public:
    Tensor apply(const Tensor& x) const override { return x / 20 + x.roll(16, 3).triu(0); }
    Tensor adjoint(const Tensor& y) const override { return y / 20 + y.triu(0).roll(-16, 3); }
  };
  const Ghost A;
  const Tensor like = at::empty({1, 3, 64, 64}, at::kDouble);
  EXPECT_GE(A.functions().normal_diagonal(like).min().item<double>(), 0);
}

// Sums over an image are those of one thread, and so is every step that depends on them.
TEST(Krylov, DoesNotDependOnTheNumberOfThreads) {
  const Tensor like = at::empty({1, 3, 64, 64}, at::kDouble);
  Rng rng(1);
  const Opaque A(make_operator("blur_motion:length=9,angle=30", like, rng));
  const Tensor x = rng.normal({1, 3, 64, 64});
  const int threads = at::get_num_threads();
  std::vector<Tensor> results, transforms;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    const Shape frame{64, 64};
    transforms.push_back(at::fft_irfft2(at::fft_rfft2(x), at::IntArrayRef(frame)));
    results.push_back(A.functions().filter(x, smooth));
    results.push_back(A.ridge(A.apply(x), scalar(1e-3)));
  }
  at::set_num_threads(threads);
  if (!transforms[0].equal(transforms[1]))
    GTEST_SKIP() << "this libtorch's own transforms depend on the number of threads";
  for (size_t i = 2; i < results.size(); ++i) EXPECT_TRUE(results[i].equal(results[i % 2])) << i;
}

TEST(Krylov, IsTheSpectrumWhereThereIsOne) {
  Rng rng(1);
  const Operator A = make_operator("inpaint_random:missing=0.5", at::empty({1, 1, 8, 8}), rng);
  EXPECT_EQ(&A->functions(), A->spectral());
}

}  // namespace
}  // namespace eps
