// The channels that a network sees of a problem.
#include "eps/diffusion/query.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/operators/factories.h"

namespace eps {
namespace {

TEST(Query, ShowsWhatTheInputSays) {
  Rng rng(4, 2);
  const Shape shape{2, 3, 8, 8};
  const Tensor mask = (rng.uniform({2, 1, 8, 8}) < 0.5).to(at::kDouble);
  const Tensor x0 = rng.normal(shape), x_t = x0 + 2 * rng.normal(shape);
  const Problem problem = observe(inpainting(mask), x0, scalar(0.1), rng);
  const Coefficients c = edm().at(scalar(2));
  const Tensor mu = pivot(problem, x_t, c);

  const Query prior = make_query(NetworkInput::prior, {}, x_t, c);
  EXPECT_TRUE(prior.x.equal(x_t));
  EXPECT_FALSE(prior.A || prior.side.defined());
  const Query palette = make_query(NetworkInput::palette, problem, x_t, c);
  EXPECT_TRUE(palette.x.equal(x_t) && palette.side.equal(problem.y));
  EXPECT_FALSE(palette.A);
  const Query bare = make_query(NetworkInput::pivot, problem, x_t, c);
  EXPECT_TRUE(bare.x.equal(mu));
  EXPECT_FALSE(bare.side.defined());
  const Query full = make_query(NetworkInput::eps, problem, x_t, c);
  EXPECT_TRUE(full.x.equal(mu) && full.side.equal(problem.y));
  // Sigma_star is diagonal here: 1 / (1/4 + 1/0.01) where observed, 4 where not.
  const Query sigma = make_query(NetworkInput::pivot_sigma, problem, x_t, c);
  const Tensor deviation = mask * std::sqrt(1 / 100.25) + (1 - mask) * 2;
  EXPECT_TRUE(sigma.side.allclose((deviation.log() / 4).expand(shape), 1e-12));
  // A'A is the mask: 1 / (4 * 0.01) = 25 where observed.
  const Query precision = make_query(NetworkInput::eps_precision, problem, x_t, c);
  EXPECT_TRUE(precision.x.equal(mu) && precision.side.slice(1, 0, 3).equal(problem.y));
  EXPECT_TRUE(
      precision.side.slice(1, 3, 6).allclose((mask * (std::log(26) / 8)).expand(shape), 1e-12));
  // A bridge's x_t is no multiple of x0 with noise: it stays as it is on every schedule.
  for (const NetworkInput& input : {NetworkInput::indi, NetworkInput::i2sb}) {
    const Query bridge = make_query(input, problem, x_t, vp_linear().at(scalar(0.5)));
    EXPECT_TRUE(bridge.x.equal(x_t));
    EXPECT_FALSE(bridge.A || bridge.side.defined() || input.geometry == Geometry::pivot);
    EXPECT_EQ(input.channels(3), 3);
  }
}

// A = 0: x is the pivot to the last bit, y and the precision are 0, and Sigma_star is sigma^2 I.
TEST(Query, OfAPriorShowsThatNothingIsMeasured) {
  Rng rng(4, 2);
  const Tensor x = rng.normal({2, 3, 8, 8}), labels = rng.normal({2, 5});
  const Tensor each = at::tensor({0.3, 40.0}, at::kDouble);
  const UnmeasuredQueries unmeasured;
  for (const Tensor& sigma : {scalar(0.7), each, each.reshape({2, 1, 1, 1})}) {
    const Query prior{.x = x, .sigma = sigma, .labels = labels};
    const Query query = unmeasured(parse_input("pivot+y+precision+deviation"), prior);
    EXPECT_TRUE(query.x.equal(x) && query.sigma.equal(sigma) && query.labels.equal(labels));
    EXPECT_EQ(query.side.slice(1, 0, 6).abs().max().item<double>(), 0);
    const Tensor deviation = (per_sample(sigma, x).log() / 4).expand_as(x);
    EXPECT_TRUE(query.side.slice(1, 6, 9).allclose(deviation, 1e-14));
    const Tensor covered = pivot_covariance(*query.A, query.sigma_y, per_sample(sigma, x), x);
    EXPECT_TRUE(covered.allclose(per_sample(sigma, x).square() * x, 1e-14));
  }
}

// The operator is one for all images of a size.
TEST(Query, OfPriorsShareWhatMeasuresNothing) {
  const UnmeasuredQueries unmeasured;
  const auto of_side = [&](int64_t side) {
    const Query prior{.x = at::zeros({2, 3, side, 8}), .sigma = scalar(0.7)};
    return unmeasured(NetworkInput::eps_precision, prior).A;
  };
  const Operator first = of_side(8);
  EXPECT_EQ(of_side(8), first);
  EXPECT_NE(of_side(16), first);
  EXPECT_EQ(of_side(16)->apply(at::ones({1, 3, 16, 8})).abs().max().item<float>(), 0);
}

// The channels stand in the order of the list, whatever the geometry.
// What a trajectory keeps changes no query: over noise levels, inputs, sizes of batches, types and
// problems.
TEST(Query, OfATrajectoryIsThatOfOneAlone) {
  Rng rng(4, 1);
  const Tensor x0 = rng.normal({1, 3, 8, 8});
  const Tensor mask = (rng.uniform({1, 1, 8, 8}) < 0.5).to(at::kDouble);
  const Problem first = observe(inpainting(mask), x0, scalar(0.1), rng);
  Problem noisier = first;
  noisier.sigma_y = scalar(0.2);
  const Problem other = observe(inpainting(1 - mask), x0, scalar(0.1), rng);
  Trajectory trajectory;
  for (const Problem& problem : {first, noisier, other})
    for (const NetworkInput& input :
         {NetworkInput::eps_precision, NetworkInput::pivot_sigma, NetworkInput::eps})
      for (const double sigma : {5.0, 0.5})
        for (const auto& [images, type] :
             {std::pair{2, at::kDouble}, {3, at::kDouble}, {3, at::kFloat}}) {
          const Tensor x_t = (x0 + sigma * rng.normal({images, 3, 8, 8})).to(type);
          const Coefficients c = edm().at(scalar(sigma));
          const Query kept = make_query(input, problem, x_t, c, trajectory);
          const Query alone = make_query(input, problem, x_t, c);
          EXPECT_TRUE(kept.x.equal(alone.x) && kept.side.equal(alone.side));
          EXPECT_EQ(kept.side.scalar_type(), alone.side.scalar_type());
        }
}

TEST(Query, HasTheChannelsInTheOrderOfTheList) {
  Rng rng(4, 2);
  const Shape shape{2, 3, 8, 8};
  const Tensor mask = (rng.uniform({2, 1, 8, 8}) < 0.5).to(at::kDouble);
  const Tensor x0 = rng.normal(shape), x_t = x0 + 2 * rng.normal(shape);
  const Problem problem = observe(inpainting(mask), x0, scalar(0.1), rng);
  const Coefficients c = edm().at(scalar(2));
  const Query full = make_query(NetworkInput::eps_precision, problem, x_t, c);
  const Tensor deviation = make_query(NetworkInput::pivot_sigma, problem, x_t, c).side;
  for (const std::string geometry : {"state", "pivot"}) {
    const Query query =
        make_query(parse_input(geometry + "+precision+skip+deviation+y"), problem, x_t, c);
    EXPECT_TRUE(query.x.equal(geometry == "state" ? x_t : full.x));
    EXPECT_TRUE(query.side.equal(
        at::cat({full.side.slice(1, 3, 6), deviation, full.side.slice(1, 0, 3)}, 1)));
  }
}

}  // namespace
}  // namespace eps
