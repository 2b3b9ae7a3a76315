// Operators with their singular vectors are the operators themselves.
#include "eps/operators/dense_basis.h"

#include <gtest/gtest.h>

#include "eps/operators/task.h"
#include "eps/priors/stationary.h"
#include "eps/verify/contract.h"
#include "tests/files.h"

namespace eps {
namespace {

const Shape kSmallImages{2, 3, 12, 14};
const std::vector<std::string> kDenseSpecs = {
    "blur_motion:length=5,angle=30,border=valid",
    "blur_motion:length=5,angle=30,border=reflect101",
    "blur_disk:radius=1.5,border=valid",
    "blur_gaussian:std=0.7,size=5 | inpaint_box:height=5,width=4",
    "blur_disk:radius=1.5 | super_resolution:factor=2"};

Operator drawn_operator(const std::string& spec) {
  Rng rng(3);
  return make_operator(spec, at::empty({1, 3, 12, 14}, at::kDouble), rng);
}

double distance_from(const Tensor& found, const Tensor& wanted) {
  return ((found - wanted).norm() / wanted.norm()).item<double>();
}

TEST(DenseBasis, KeepsTheContract) {
  for (const std::string& spec : kDenseSpecs) {
    SCOPED_TRACE(spec);
    const Operator A = DenseBasis::of(drawn_operator(spec), at::empty(kSmallImages, at::kDouble));
    ASSERT_NE(A, nullptr);
    Rng rng(4, 2);
    EXPECT_LT(adjoint_error(*A, kSmallImages, rng), 1e-10);
    for (const double lambda : {1e-6, 1e-2, 1e2}) {
      EXPECT_LT(ridge_residual(*A, kSmallImages, lambda, rng), 1e-8) << lambda;
      EXPECT_LT(ridge_against_cg(*A, kSmallImages, lambda, rng), 1e-6) << lambda;
    }
    EXPECT_LT(filter_error(*A, kSmallImages, rng), 1e-9);
    EXPECT_LT(float32_pivot_error(A, kSmallImages, 80, rng), 2e-3);
  }
}

// Functions with the scales of a network's input and output, to the tolerance of those without a
// fast basis, and the power of the data with which a network was trained.
TEST(DenseBasis, HasTheFunctionsOfTheOperator) {
  const Tensor spectrum = natural_spectrum(kSmallImages[2], kSmallImages[3])[0];
  for (const std::string& spec : kDenseSpecs) {
    SCOPED_TRACE(spec);
    const Operator A = drawn_operator(spec),
                   dense = DenseBasis::of(A, at::empty(kSmallImages, at::kDouble));
    const Tensor x = Rng(5, 2).normal(kSmallImages);
    const Spectral &slow = A->functions(), &fast = dense->functions();
    for (const double sigma : {80.0, 1.0, 0.02}) {
      const auto f = [&](const Tensor& e) {
        return (0.25 + 1 / (1 / (sigma * sigma) + e / 0.0025)).rsqrt();
      };
      EXPECT_LT(distance_from(fast.filter(x, f), slow.filter(x, f)), 3e-3) << sigma;
    }
    const Tensor e = at::tensor({0.0, 0.01, 0.5}, at::kDouble).reshape({1, 1, 1, 3});
    EXPECT_TRUE(fast.prior_power(spectrum, x)(e).allclose(slow.prior_power(spectrum, x)(e)));
    EXPECT_TRUE(fast.normal_diagonal(x).allclose(slow.normal_diagonal(x)));
    const auto square = [](const Tensor& e) { return e.square() + 0.1; };
    EXPECT_LT(distance_from(fast.mean_eigenvalue(x, square).flatten()[0],
                            fast.diagonal(x, square).mean()),
              1e-12);
    EXPECT_TRUE(dense->format().picture(A->apply(x)).equal(A->format().picture(A->apply(x))));
  }
}

// A noise level for each image.
TEST(DenseBasis, TakesALevelOfEachImage) {
  const Operator A =
      DenseBasis::of(drawn_operator(kDenseSpecs[0]), at::empty(kSmallImages, at::kDouble));
  const Tensor x = Rng(5, 2).normal(kSmallImages), r = A->apply(x);
  const Tensor levels = at::tensor({0.1, 3.0}, at::kDouble).reshape({2, 1, 1, 1});
  const auto f = [](const Tensor& level) {
    return [=](const Tensor& e) { return 1 / (e + per_sample(level, e)); };
  };
  const Tensor ridge = A->ridge(r, levels), filtered = A->spectral()->filter(x, f(levels));
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor level = levels.flatten()[i], own = x.slice(0, i, i + 1);
    EXPECT_LT(distance_from(ridge[i], A->ridge(r.slice(0, i, i + 1), level)[0]), 1e-12);
    EXPECT_LT(distance_from(filtered[i], A->spectral()->filter(own, f(level))[0]), 1e-12);
  }
}

TEST(DenseBasis, IsOfOperatorsThatTreatChannelsAlike) {
  for (const char* spec : {"bayer", "grey", "super_resolution:factor=2 + grey"})
    EXPECT_EQ(DenseBasis::of(drawn_operator(spec), at::empty(kSmallImages, at::kDouble)), nullptr)
        << spec;
  Rng rng(3, 2);
  const Tensor like = at::empty(kSmallImages, at::kDouble);
  const Operator each = make_operator("inpaint_random:missing=0.5", like, rng);
  EXPECT_EQ(DenseBasis::of(each, like), nullptr);
  // On a CPU the operator's own way takes less time.
  const Operator A = drawn_operator(kDenseSpecs[0]);
  EXPECT_EQ(for_many_evaluations(A, like, 1'000'000), A);
}

}  // namespace
}  // namespace eps
