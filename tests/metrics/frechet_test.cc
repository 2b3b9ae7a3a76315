// The Frechet distance against dense matrix square roots and closed forms.
#include "eps/metrics/frechet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "eps/base/random.h"

namespace eps {
namespace {

// The symmetric square root of a positive semidefinite matrix of this rank: what rounding leaves of
// its other eigenvalues is dropped, as their roots would be good to half the digits only.
Tensor square_root(const Tensor& matrix, int64_t rank) {
  const auto [values, vectors] = at::linalg_eigh(matrix);
  const int64_t zeros = std::max<int64_t>(0, matrix.size(0) - rank);
  const Tensor roots = values.clamp_min(0).sqrt();
  roots.slice(0, 0, zeros).zero_();
  return at::matmul(vectors * roots, vectors.t());
}

// The definition, with D x D covariances: tr (C1 C2)^(1/2) = tr (C1^(1/2) C2 C1^(1/2))^(1/2).
// x_rank and y_rank: how many different points there are, less 1.
double direct(const Tensor& x, int64_t x_rank, const Tensor& y, int64_t y_rank) {
  const auto covariance = [](const Tensor& points) {
    const Tensor centred = points - points.mean(0);
    return at::matmul(centred.t(), centred) / (points.size(0) - 1);
  };
  const Tensor C1 = covariance(x), C2 = covariance(y), root = square_root(C1, x_rank);
  const Tensor cross = square_root(at::matmul(at::matmul(root, C2), root), y_rank);
  return ((x.mean(0) - y.mean(0)).square().sum() + C1.trace() + C2.trace() - 2 * cross.trace())
      .item<double>();
}

double distance(const Tensor& samples, const Tensor& truth) {
  return frechet_distance(samples, truth)(at::ones({truth.size(0)}, at::kDouble));
}

// n points whose sample mean is 0 and whose sample covariance is exactly I.
Tensor exact_normal(int64_t n, int64_t dimension, uint64_t seed) {
  const Tensor points = Rng(seed).normal({n, dimension});
  const Tensor q = std::get<0>(at::linalg_qr(points - points.mean(0)));
  return q * std::sqrt(static_cast<double>(n - 1));
}

struct Case {
  int64_t S, N, D;
};
class Frechet : public testing::TestWithParam<Case> {};

// Weights are as good as copies.
TEST_P(Frechet, EqualsTheDenseFormulaForEveryResampling) {
  const auto [S, N, D] = GetParam();
  Rng rng(1);
  const Tensor mixing = rng.normal({D, D}) / std::sqrt(static_cast<double>(D));
  const Tensor truth = at::matmul(rng.normal({N, D}), mixing) + 5;
  const Tensor samples = truth + 0.5 * rng.normal({S, N, D}) + 0.1;
  const Statistic found = frechet_distance(samples, truth);
  const Tensor drawn =
      (rng.uniform({N}) * static_cast<double>(N)).floor().to(at::kLong).bincount({}, N);
  for (const Tensor& copies : {at::ones({N}, at::kLong), drawn}) {
    const int64_t different = copies.count_nonzero().item<int64_t>();
    const double wanted = direct(samples.repeat_interleave(copies, 1).flatten(0, 1),
                                 S * different - 1,
                                 truth.repeat_interleave(copies, 0),
                                 different - 1);
    EXPECT_NEAR(found(copies.to(at::kDouble)) / wanted, 1, 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         Frechet,
                         testing::Values(Case{4, 30, 5},    // more images than features
                                         Case{1, 12, 12},   // as many
                                         Case{4, 12, 30},   // N < D < S N
                                         Case{2, 12, 60}),  // S N < D
                         [](const auto& info) { return "Case" + std::to_string(info.index); });

// Commuting covariances: |m1 - m2|^2 + sum (sqrt a - sqrt b)^2.
TEST(FrechetDistance, OfExactMomentsIsTheClosedForm) {
  const Tensor a = at::tensor({4.0, 1.0, 0.25, 1e-4}, at::kDouble);
  const Tensor b = at::tensor({1.0, 9.0, 0.25, 1.0}, at::kDouble);
  const Tensor m = at::tensor({0.5, 0.0, -2.0, 1.0}, at::kDouble);
  const Tensor x = exact_normal(60, 4, 1) * a.sqrt() + m, y = exact_normal(20, 4, 2) * b.sqrt();
  const double wanted = (m.square().sum() + (a.sqrt() - b.sqrt()).square().sum()).item<double>();
  EXPECT_NEAR(distance(x.reshape({3, 20, 4}), y), wanted, 1e-9);
}

// 2 x 2 matrices have tr P^(1/2) = sqrt(tr P + 2 sqrt(det P)), also if they do not commute.
TEST(FrechetDistance, OfCovariancesThatDoNotCommuteIsTheClosedForm) {
  const Tensor L1 = at::tensor({2.0, 0.0, 1.0, 0.5}, at::kDouble).reshape({2, 2});
  const Tensor L2 = at::tensor({1.0, 0.7, -0.4, 3.0}, at::kDouble).reshape({2, 2});
  const Tensor C1 = at::matmul(L1, L1.t()), C2 = at::matmul(L2, L2.t()), P = at::matmul(C1, C2);
  const double root =
      std::sqrt(P.trace().item<double>() + 2 * std::sqrt(at::linalg_det(P).item<double>()));
  const Tensor x = at::matmul(exact_normal(30, 2, 3), L1.t());
  const Tensor y = at::matmul(exact_normal(15, 2, 4), L2.t());
  EXPECT_NEAR(distance(x.reshape({2, 15, 2}), y),
              (C1.trace() + C2.trace()).item<double>() - 2 * root,
              1e-9);
}

TEST(FrechetDistance, OfASetToItselfIsZeroAndOfAShiftItsSquare) {
  const Tensor y = Rng(5).normal({25, 40});
  EXPECT_NEAR(distance(y.unsqueeze(0), y), 0, 1e-9);
  EXPECT_NEAR(distance(y.unsqueeze(0) + 0.5, y), 0.25 * 40, 1e-9);
}

TEST(FrechetDistance, IgnoresOriginRotationAndOrder) {
  Rng rng(6);
  const Tensor y = rng.normal({20, 8}), x = 2 * rng.normal({3, 20, 8}) + 0.3;
  const double value = distance(x, y);
  const Tensor turn = std::get<0>(at::linalg_qr(rng.normal({8, 8})));
  EXPECT_NEAR(distance(x + 1e4, y + 1e4), value, 1e-9);
  EXPECT_NEAR(distance(at::matmul(x, turn), at::matmul(y, turn)), value, 1e-9);
  EXPECT_NEAR(distance(x.flip({0, 1}), y), value, 1e-9);
  EXPECT_NEAR(distance(3 * x, 3 * y), 9 * value, 1e-9);
  EXPECT_NEAR(distance(x.to(at::kFloat), y.to(at::kFloat)), value, 1e-4);
}

TEST(FrechetDistance, NanPropagatesAndWrongShapesAreErrors) {
  const Tensor y = Rng(7).normal({5, 4}), x = y.clone().unsqueeze(0);
  x[0][1][2] = NAN;
  EXPECT_TRUE(std::isnan(distance(x, y)));
  EXPECT_THROW(distance(at::ones({1, 1, 4}), at::ones({1, 4})), Error);
  EXPECT_THROW(distance(at::ones({1, 5, 2, 2}), at::ones({5, 2, 2})), Error);
  EXPECT_THROW(distance(at::ones({5, 4}), y), Error);
}

}  // namespace
}  // namespace eps
