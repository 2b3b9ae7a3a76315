// The anisotropic preconditioning around a network.
#include "eps/model/preconditioned_query.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/math/pyramid.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/priors/stationary.h"
#include "tests/files.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

constexpr int64_t kSize = 16;

double relative(const Tensor& value, const Tensor& wanted) {
  return ((value - wanted).norm() / wanted.norm()).item<double>();
}

// All ways p and m can be had, on every kind of basis.
std::vector<Preconditioning> anisotropic_rules() {
  std::vector<Preconditioning> rules;
  for (const char* source : {"constant", "spectrum", "geometric_mean"})
    rules.push_back({.kind = Preconditioning::Kind::anisotropic,
                     .prior_variance = source,
                     .spectrum = natural_spectrum(kSize, kSize)[0].to(at::kFloat)});
  rules.push_back(rules.back());
  rules.back().prior_mean = "neighbours";
  return rules;
}

Query query_for(const Operator& A, double sigma, Rng& rng, Tensor* x0, int64_t channels = 3) {
  const Shape shape{2, channels, kSize, kSize};
  *x0 = rng.normal(shape, at::kFloat) / 2;
  const Tensor x_t = *x0 + sigma * rng.normal(shape, at::kFloat);
  return make_query(
      NetworkInput::pivot, observe(A, *x0, scalar(0.05), rng), x_t, edm().at(scalar(sigma)));
}

TEST(Anisotropic, TheTargetGivesTheImageBack) {
  for (const auto& p : anisotropic_rules())
    for (const auto& [name, entry] : operators()) {
      if (entry.example.empty() || name == "blur_pool") continue;  // its filter cancels in float32
      for (const double sigma : {0.01, 1.0, 80.0}) {
        Rng rng(6, 2);
        const int64_t channels = channels_of(name, 3);
        const Operator A =
            make_operator(entry.example, at::empty({2, channels, kSize, kSize}, at::kFloat), rng);
        // The iterations, which are slow, are the same about another mean.
        if (p.prior_mean == "neighbours" && !A->spectral()) continue;
        Tensor x0;
        const Query query = query_for(A, sigma, rng, &x0, channels);
        const PreconditionedQuery scaling(p, query);
        // Without a fast basis the functions have a tolerance of their own.
        EXPECT_LT(relative(scaling.mean(scaling.target(x0)), x0), A->spectral() ? 2e-4 : 1e-2)
            << name << " " << p.prior_variance << " " << p.prior_mean << " " << sigma;
      }
    }
}

// A network that answers 0 leaves m + c_skip (x - m); the network sees the same as its skip.
TEST(Anisotropic, CorrectsTheEstimateFromNeighbours) {
  Rng rng(6, 2);
  const Tensor half = (Rng(1).uniform({1, 1, kSize, kSize}) < 0.5).to(at::kFloat);
  for (const Operator& A : {inpainting(half), bayer("grbg", kSize, kSize)}) {
    Tensor x0;
    const Query query = query_for(A, 80, rng, &x0);
    const Tensor mask = A->adjoint(A->apply(at::ones_like(x0)));
    Preconditioning rule = anisotropic_rules()[0];
    rule.prior_mean = "neighbours";
    const Tensor v = mask / (1 / 6400.0 + 1 / 0.0025) + (1 - mask) * 6400;
    const Tensor m = pyramid_estimate(query.x, v);
    const Tensor zero = at::zeros_like(x0);
    const Tensor answer = PreconditionedQuery(rule, query).mean(zero);
    EXPECT_LT(relative(answer, m + 0.25 / (v + 0.25) * (query.x - m)), 1e-5);
    const NetworkInput seen = NetworkInput::pivot.with(Channel::skip);
    const PreconditionedQuery shown(rule, query, seen);
    EXPECT_LT(relative(shown.input().slice(1, 3), answer), 1e-6);
    EXPECT_LT(relative(shown.mean(zero), answer), 1e-6);
  }
}

// One pixel of variance v is measured where nothing is known of the eight around it: F counts for
// sqrt(v / (v d^8)^(1/9)) of c_out there, and for all of it elsewhere, and everywhere once x_t says
// as much of every pixel.
TEST(Anisotropic, AnswersLessForAKnownPixelAmongUnknownOnes) {
  Rng rng(6, 2);
  Tensor mask = at::zeros({1, 1, kSize, kSize});
  mask.select(2, 5).select(2, 7).fill_(1);
  Preconditioning rule = anisotropic_rules()[0];
  rule.prior_mean = "neighbours";
  Tensor x0;
  const auto factor = [&](const Query& query) {
    const PreconditionedQuery scaling(rule, query);
    return scaling.mean(at::ones_like(x0)) - scaling.mean(at::zeros_like(x0));
  };
  const auto c_out = [](const Tensor& v) { return (v * 0.25 / (v + 0.25)).sqrt(); };
  const Query far = query_for(inpainting(mask), 80, rng, &x0);
  const Tensor v = mask / (1 / 6400.0 + 1 / 0.0025) + (1 - mask) * 6400;
  const double measured = 1 / (1 / 6400.0 + 1 / 0.0025);
  const Tensor g = 1 + mask * (std::pow(measured / kPixelDetail, 4 / 9.0) - 1);
  EXPECT_LT(relative(factor(far), (c_out(v) * g).expand_as(x0)), 1e-4);
  // Near the data x_t says as much of every pixel: v is 8/9 of that of the 8 around it, and its
  // own.
  const Query near = query_for(inpainting(mask), 1e-3, rng, &x0);
  EXPECT_LT(relative(factor(near), at::full_like(x0, 1e-3)), 1e-3);
  const Query noisy = query_for(identity(), 3, rng, &x0);
  EXPECT_FALSE(PreconditionedQuery(rule, noisy).answer_scale().defined());
}

// Without measurement noise the measured pixels are known: the answer there is the pivot itself.
TEST(Anisotropic, KnowsWhatWasMeasuredWithoutNoise) {
  Rng rng(6, 2);
  const Shape shape{2, 3, kSize, kSize};
  const Tensor x0 = rng.normal(shape, at::kFloat) / 2;
  const Tensor mask = (Rng(1).uniform({1, 1, kSize, kSize}) < 0.5).to(at::kFloat);
  const Query query = make_query(NetworkInput::pivot,
                                 observe(inpainting(mask), x0, scalar(0), rng),
                                 x0 + 3 * rng.normal(shape, at::kFloat),
                                 edm().at(scalar(3)));
  Preconditioning rule = anisotropic_rules()[0];
  rule.prior_mean = "neighbours";
  const PreconditionedQuery filled(rule, query);
  EXPECT_LT(relative(filled.mean(filled.target(x0)), x0), 1e-5);
  EXPECT_LT(relative(filled.mean(waves(shape)) * mask, x0 * mask), 1e-6);
  rule.prior_mean = "zero";
  const PreconditionedQuery scaling(rule, query);
  EXPECT_EQ((scaling.target(x0) * mask).abs().max().item<double>(), 0);
  EXPECT_LT(relative(scaling.mean(scaling.target(x0)), x0), 1e-5);
  EXPECT_LT(relative(scaling.mean(waves(shape)) * mask, x0 * mask), 1e-6);
}

TEST(Anisotropic, IsEdmsWhereNothingWasMeasured) {
  const Operator nothing = inpainting(at::zeros({1, 1, kSize, kSize}));
  Rng rng(7, 2);
  Tensor x0;
  const Query query = query_for(nothing, 3, rng, &x0);
  const Preconditioning edm_rule;
  const PreconditionedQuery wanted(edm_rule, query), scaling(anisotropic_rules()[0], query);
  EXPECT_LT(relative(scaling.input(), wanted.input()), 1e-6);
  EXPECT_LT(relative(scaling.target(x0), wanted.target(x0)), 1e-5);
  EXPECT_NEAR(scaling.mean_square_out().mean().item<double>(),
              wanted.mean_square_out().mean().item<double>(),
              1e-6);
}

// Per pixel for a mask: v = 1/(1/sigma^2 + 1/sigma_y^2) where observed and sigma^2 where not.
TEST(Anisotropic, ScalesEachPixelOfAMaskByItsOwnNoise) {
  Rng rng(8, 2);
  const Tensor mask = (Rng(1).uniform({1, 1, kSize, kSize}) < 0.5).to(at::kFloat);
  Tensor x0;
  const Query query = query_for(inpainting(mask), 5, rng, &x0);
  const Tensor v = mask / (1 / 25.0 + 400) + (1 - mask) * 25, p = at::full({}, 0.25);
  const Preconditioning rule = anisotropic_rules()[0];
  const PreconditionedQuery scaling(rule, query);
  EXPECT_LT(relative(scaling.input(), query.x / (v + p).sqrt()), 1e-6);
  const Tensor answer = rng.normal({2, 3, kSize, kSize}, at::kFloat);
  EXPECT_LT(
      relative(scaling.mean(answer), query.x * p / (v + p) + answer * (v * p / (v + p)).sqrt()),
      1e-6);
  EXPECT_NEAR(
      scaling.mean_square_out()[0].item<double>(), (v * p / (v + p)).mean().item<double>(), 1e-6);
}

// With p the data's own power, what the network sees and what it should answer are white: unit
// variance along every direction. Mean squares over n numbers are known to sqrt(2/n); 5 of those.
TEST(Anisotropic, MakesTheNetworksTaskWhite) {
  const int64_t images = 64;
  const Shape shape{images, 3, kSize, kSize};
  const double tolerance = 5 * std::sqrt(2.0 / static_cast<double>(images * 3 * kSize * kSize));
  const Stationary prior(at::zeros({1, kSize, kSize}), natural_spectrum(kSize, kSize));
  Preconditioning rule = anisotropic_rules()[1];
  for (const char* spec : {"blur_gaussian:std=0.75,size=11",
                           "blur_motion:length=9,angle=30",
                           "super_resolution:factor=4"}) {
    Rng rng(9, images);
    const Tensor x0 = prior.sample(rng, shape).to(at::kFloat);
    const Operator A = make_operator(spec, x0, rng);
    const Tensor x_t = x0 + 2 * rng.normal(shape, at::kFloat);
    const Query query = make_query(
        NetworkInput::pivot, observe(A, x0, scalar(0.05), rng), x_t, edm().at(scalar(2)));
    const PreconditionedQuery scaling(rule, query);
    EXPECT_NEAR(scaling.input().square().mean().item<double>(), 1, tolerance) << spec;
    EXPECT_NEAR(scaling.target(x0).square().mean().item<double>(), 1, tolerance) << spec;
  }
}

// A chain of a blur and a mask that keeps all pixels is the blur, whose spectrum is known.
TEST(Anisotropic, NeedsNoFastBasis) {
  const Tensor like = at::empty({2, 3, kSize, kSize});
  Rng rng(10, 2);
  const Operator blur = make_operator("blur_gaussian:std=0.6,size=5", like, rng);
  const Operator chain =
      make_operator("blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0", like, rng);
  ASSERT_EQ(chain->spectral(), nullptr);
  for (const double sigma : {0.1, 1.0, 80.0}) {
    Tensor x0;
    Query query = query_for(blur, sigma, rng, &x0);
    const PreconditionedQuery known(anisotropic_rules()[0], query);
    query.A = chain;
    const PreconditionedQuery found(anisotropic_rules()[0], query);
    EXPECT_LT(relative(found.input(), known.input()), 2e-3) << sigma;
    EXPECT_LT(relative(found.mean(x0), known.mean(x0)), 2e-3) << sigma;
  }
}

// c_skip x: what the denoiser is where the network answers nothing.
TEST(Anisotropic, ShowsTheLinearEstimateWhenTold) {
  Preconditioning rule = anisotropic_rules()[1];
  for (const char* spec : {"blur_motion:length=9,angle=30", "inpaint_random:missing=0.5"}) {
    Rng rng(11, 2);
    const Operator A = make_operator(spec, at::empty({2, 3, kSize, kSize}), rng);
    Tensor x0;
    Query query = query_for(A, 2, rng, &x0);
    query.side = waves({2, 3, kSize, kSize});
    const PreconditionedQuery bare(rule, query);
    const PreconditionedQuery scaling(rule, query, parse_input("eps+skip"));
    const Tensor shown = scaling.input(), nothing = at::zeros_like(query.x).to(at::kFloat);
    ASSERT_EQ(shown.size(1), 9) << spec;
    EXPECT_TRUE(shown.slice(1, 0, 6).equal(bare.input())) << spec;
    EXPECT_TRUE(shown.slice(1, 6, 9).equal(bare.mean(nothing))) << spec;
    // The skip stands where the input has it, here before y.
    const Tensor first = PreconditionedQuery(rule, query, parse_input("pivot+skip+y")).input();
    EXPECT_TRUE(first.equal(
        at::cat({shown.slice(1, 0, 3), shown.slice(1, 6, 9), shown.slice(1, 3, 6)}, 1)));
    EXPECT_TRUE(scaling.mean(shown.slice(1, 0, 3)).equal(bare.mean(shown.slice(1, 0, 3)))) << spec;
  }
}

TEST(Anisotropic, ScalesTheSideOnlyWhenTold) {
  Query query{waves({2, 3, 8, 8}), scalar(2)};
  query.side = waves({2, 3, 8, 8}) * 3;
  Preconditioning rule;
  EXPECT_TRUE(PreconditionedQuery(rule, query).input().slice(1, 3, 6).equal(query.side));
  const NetworkInput scaled{Geometry::state, {Channel::y}, /*scale_side=*/true};
  EXPECT_LT(relative(PreconditionedQuery(rule, query, scaled).input().slice(1, 3, 6),
                     query.side / std::sqrt(4.25)),
            1e-6);
}

}  // namespace
}  // namespace eps
