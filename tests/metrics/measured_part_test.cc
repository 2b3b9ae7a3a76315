// Calibration of the measured and of the unmeasured part, under a prior whose posterior is known.
#include "eps/metrics/measured_part.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/metrics/evaluation.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/dense.h"
#include "eps/priors/mixture.h"
#include "tests/files.h"

namespace eps {
namespace {

constexpr double kSigmaY = 0.2;

class Parts : public testing::TestWithParam<std::string> {};

// P = A^+ A of the dense matrix, whose singular values are 0 or not by a wide margin.
TEST_P(Parts, AreTheProjectionsOfTheDenseMatrix) {
  Rng rng(1);
  const Tensor x = rng.normal({1, 1, 4, 4});
  const Operator A = make_operator(GetParam(), x, rng);
  const Tensor dense =
      matrix_of([&](const Tensor& v) { return A->apply(v); }, {1, 1, 4, 4}, 1, at::kDouble)[0];
  const Tensor P = at::matmul(at::linalg_pinv(dense, 1e-9), dense);
  const Tensor wanted = at::matmul(P, x.flatten()).reshape(x.sizes());
  EXPECT_LT((measured_part(*A, x) - wanted).abs().max().item<double>(), 1e-10);
}

struct Restored {
  Tensor samples, truth;
  std::vector<Problem> problems;
};
// Draws images of a Gaussian prior, and 39 samples of the posterior of each.
Restored restored(const std::string& spec, int64_t images) {
  const Mixture prior = example_mixture({1, 4, 4}, 1, 3);
  Rng rng(4);
  std::vector<Tensor> samples, truth;
  Restored result;
  for (int64_t i = 0; i < images; ++i) {
    const Tensor x0 = prior.sample(rng, 1);
    result.problems.push_back(observe(make_operator(spec, x0, rng), x0, scalar(kSigmaY), rng));
    samples.push_back(prior.posterior(result.problems.back()).sample(rng, 39));
    truth.push_back(x0);
  }
  result.samples = at::stack(samples, 1);
  result.truth = at::cat(truth);
  return result;
}

// 100 images; each number within five of its standard errors, which are below 2.5%.
TEST_P(Parts, OfExactPosteriorSamplesAreBothCalibrated) {
  const Restored r = restored(GetParam(), 100);
  const Evaluation e = evaluate(r.samples, r.truth, {.problems = &r.problems});
  for (const std::string part : {"", "_measured", "_unmeasured"}) {
    for (const auto& [name, wanted] :
         {std::pair<std::string, double>{"coverage_80", 0.8}, {"coverage_90", 0.9}}) {
      const Reading found = e.metrics.at(name + part);
      EXPECT_NEAR(found.value, wanted, 5 * found.se) << name << part;
      EXPECT_LT(found.se, 0.025) << name << part;
    }
    const Reading spread = e.metrics.at("spread_skill" + part);
    EXPECT_NEAR(spread.value, 1, 5 * spread.se) << part;
    EXPECT_LT(e.metrics.at("rank_deviation" + part).value, 0.35) << part;
  }
}

// Samples whose unmeasured part alone is half as wide: the measured part has the same numbers as
// before, the other covers erf(1.645/2/sqrt(2)) = 0.59.
TEST_P(Parts, TellAPartThatIsTooNarrowFromOneThatIsNot) {
  Restored r = restored(GetParam(), 60);
  const Evaluation before = evaluate(r.samples, r.truth, {.problems = &r.problems});
  const Tensor narrow = r.samples.clone();
  for (int64_t i = 0; i < 60; ++i) {
    const LinearOperator& A = *r.problems[static_cast<size_t>(i)].A;
    const Tensor x = r.samples.select(1, i), centred = x - x.mean(0, true);
    narrow.select(1, i).sub_(0.5 * (centred - measured_part(A, centred)));
  }
  const Evaluation e = evaluate(narrow, r.truth, {.problems = &r.problems});
  for (const std::string name : {"coverage_90", "spread_skill"})
    EXPECT_NEAR(
        e.metrics.at(name + "_measured").value, before.metrics.at(name + "_measured").value, 1e-9);
  const Reading coverage = e.metrics.at("coverage_90_unmeasured");
  EXPECT_NEAR(coverage.value, std::erf(1.645 / 2 / std::sqrt(2)), 5 * coverage.se + 0.02);
  EXPECT_LT(e.metrics.at("spread_skill_unmeasured").value, 0.65);
  EXPECT_GT(e.metrics.at("rank_deviation_unmeasured").value, 0.4);
}

INSTANTIATE_TEST_SUITE_P(Operators,
                         Parts,
                         testing::Values("inpaint_random:missing=0.5",
                                         "super_resolution:factor=2",
                                         "blur_motion:length=2,angle=0",
                                         "fourier_lines:acceleration=2,center=0.25",
                                         "hadamard:keep=0.5"),
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

// One problem with a mask for each image, and the same masks in problems of one image each.
TEST(PartsOfMasks, AreTheirPixelsHoweverImagesAreGrouped) {
  const int64_t N = 6;
  Rng rng(5, N);
  const Tensor truth = rng.normal({N, 2, 8, 8}), samples = Rng(6).normal({19, N, 2, 8, 8});
  const Tensor mask = (rng.uniform({N, 1, 8, 8}) < 0.5).to(at::kDouble);
  mask[2].fill_(1);  // has no hole, and so no unmeasured part
  std::vector<Problem> together = {{inpainting(mask), truth, scalar(0.1), {}}}, alone;
  for (int64_t i = 0; i < N; ++i)
    alone.push_back({inpainting(mask.narrow(0, i, 1)), truth.narrow(0, i, 1), scalar(0.1), {}});
  const Evaluation a = evaluate(samples, truth, {.problems = &together});
  const Evaluation b = evaluate(samples, truth, {.problems = &alone});
  for (const auto& [part, inside] : {std::pair{"_measured", 1.0}, {"_unmeasured", 0.0}}) {
    const std::string name = std::string("coverage_90") + part;
    EXPECT_EQ(a.metrics.at(name).value, b.metrics.at(name).value);
    EXPECT_EQ(a.metrics.at(name).se, b.metrics.at(name).se);
    const Tensor between = at::logical_and(samples.amin(0) <= truth, truth <= samples.amax(0));
    const Tensor chosen = (mask == inside).expand_as(truth);
    Tensor fractions = at::logical_and(between, chosen).to(at::kDouble).flatten(1).sum(1) /
                       chosen.to(at::kDouble).flatten(1).sum(1);
    fractions = fractions.index({fractions.isfinite()});
    EXPECT_EQ(fractions.size(0), inside == 1 ? N : N - 1);
    EXPECT_NEAR(a.metrics.at(name).value, fractions.mean().item<double>(), 1e-12) << part;
  }
}

TEST(PartsOfMasks, AreAbsentWhereThereIsOnlyOne) {
  const Tensor truth = Rng(7, 2).uniform({2, 1, 12, 12});
  const Tensor samples = truth.unsqueeze(0).expand({19, -1, -1, -1, -1});
  const auto reason = [&](const Operator& A) {
    const std::vector<Problem> problems = {{A, A->apply(truth), scalar(0.1), {}}};
    const Evaluation e = evaluate(samples, truth, {.problems = &problems});
    EXPECT_EQ(e.absent.at("coverage_90_measured"), e.absent.at("spread_skill_unmeasured"));
    return e.absent.at("coverage_90_measured");
  };
  EXPECT_EQ(reason(identity()), "needs an operator that leaves something unmeasured");
  EXPECT_EQ(reason(inpainting(at::zeros({1, 1, 12, 12}))), "needs a measurement");
  Rng rng(8);
  EXPECT_EQ(reason(make_operator("blur_gaussian:std=1,size=5 | inpaint_box", truth, rng)),
            "needs an operator with a fast basis");
  EXPECT_EQ(evaluate(samples, truth, {}).absent.at("coverage_90_measured"),
            "needs a measurement, its operator and its noise");
}

}  // namespace
}  // namespace eps
