// Tensors of operators in the type of the images they meet.
#include "eps/operators/converted.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "eps/operators/registry.h"

namespace eps {
namespace {

TEST(Converted, KeepsItsLastTwoConversions) {
  const Converted third(at::full({2}, 1.0 / 3, at::kDouble));
  const Tensor single = at::zeros({1}, at::kFloat), wide = at::zeros({1}, at::kDouble);
  EXPECT_TRUE(third.like(wide).is_same(third.exact()));
  const Tensor first = third.like(single);
  EXPECT_EQ(first.scalar_type(), at::kFloat);
  EXPECT_EQ(first[0].item<float>(), 1.0f / 3);
  EXPECT_TRUE(third.like(single).is_same(first));
  EXPECT_TRUE(Converted(third).like(single).is_same(first));
  EXPECT_EQ(third.like(at::zeros({1}, at::kHalf)).scalar_type(), at::kHalf);
  EXPECT_TRUE(third.like(single).is_same(first));
  third.like(at::zeros({1}, at::kBFloat16));
  EXPECT_EQ(third.like(single).scalar_type(), at::kFloat);
  EXPECT_FALSE(third.like(single).is_same(first));
}

// Operators are sampled with in inference mode and then differentiated through.
TEST(Converted, DerivativesFollowInferenceMode) {
  const std::string every[] = {"blur_gaussian:std=1,size=5,border=valid",
                               "blur_gaussian:std=1,size=5",
                               "inpaint_random:missing=0.5",
                               "soft_mask:smooth=2,missing=0.3",
                               "super_resolution:factor=4",
                               "bayer:pattern=rggb"};
  for (const auto& spec : every) {
    Rng rng(1);
    const Tensor x = rng.normal({1, 3, 16, 16}, at::kFloat);
    const Operator A = make_operator(spec, x, rng);
    const auto root = [](const Tensor& e) { return (e + 1).sqrt(); };
    Tensor expected;
    {
      const c10::InferenceMode sampling;
      expected = A->spectral()->filter(A->ridge(A->apply(x), scalar(0.1)), root);
    }
    const Tensor leaf = x.clone().requires_grad_();
    const Tensor found = A->spectral()->filter(A->ridge(A->apply(leaf), scalar(0.1)), root);
    EXPECT_TRUE(at::equal(found.detach(), expected)) << spec;
    found.sum().backward();
    EXPECT_GT(leaf.grad().abs().sum().item<double>(), 0) << spec;
  }
}

// What a network's scales need of an operator is computed once for a trajectory.
TEST(Converted, PowersAreKeptForASpectrum) {
  Rng rng(1);
  const Tensor like = at::zeros({2, 3, 16, 16}, at::kFloat);
  const Operator A = make_operator("super_resolution:factor=4", like, rng);
  const Tensor e = at::tensor({1.0 / 16, 0.0}, at::kFloat).reshape({1, 2, 1, 1});
  for (const double scale : {1.0, 2.0}) {
    const Tensor spectrum = at::full({16, 9}, scale, at::kFloat);
    const Tensor wanted = A->spectral()->prior_power(spectrum, like)(e);
    for (int time = 0; time < 2; ++time)
      EXPECT_TRUE(at::equal(A->spectral()->kept_prior_power(spectrum, like, 1)(e), wanted));
  }
}

// A `Counting` operator counts how often its prior power is computed.
class Counting final : public Spectral {
 public:
  Basis basis() const override { return Basis::pixel; }
  Tensor filter(const Tensor& x, const EigenvalueMap&) const override { return x; }
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override {
    ++count;
    return Spectral::prior_power(spectrum, like);
  }
  mutable int count = 0;
};

TEST(Converted, PowersAreComputedAnewWhereTheyMayDiffer) {
  const Counting A;
  const Tensor spectrum = at::ones({8, 5}, at::kFloat), two = at::zeros({2, 3, 8, 8}, at::kFloat);
  const Tensor three = at::zeros({3, 3, 8, 8}, at::kFloat);
  const auto count_after = [&](const Tensor& spectrum, const Tensor& like, int64_t maps) {
    A.kept_prior_power(spectrum, like, maps);
    return A.count;
  };
  EXPECT_EQ(count_after(spectrum, two, 1), 1);
  EXPECT_EQ(count_after(spectrum, three, 1), 1);  // all images share the map
  EXPECT_EQ(count_after(spectrum, three, 3), 2);  // of `two`
  EXPECT_EQ(count_after(spectrum, three, 3), 2);
  EXPECT_EQ(count_after(spectrum, three.to(at::kDouble), 3), 3);
  EXPECT_EQ(count_after(spectrum.clone(), three.to(at::kDouble), 3), 4);
}

}  // namespace
}  // namespace eps
