// Functions of matrices as sums of resolvents, against eigenvalues.
#include "eps/math/partial_fractions.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "eps/math/conjugate_gradients.h"
#include "eps/math/shifted_conjugate_gradients.h"
#include "eps/math/spectral_measure.h"
#include "tests/files.h"

namespace eps {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

// The functions of the anisotropic preconditioning, those of its target last, prior variance 1/16,
// sigma_y = 0.05.
std::vector<Function> scales(double sigma) {
  const auto v = [sigma](const Tensor& e) { return 1 / (1 / (sigma * sigma) + e / 0.0025); };
  return {[=](const Tensor& e) { return (v(e) + 0.0625).rsqrt(); },
          [=](const Tensor& e) { return 0.0625 / (v(e) + 0.0625); },
          [=](const Tensor& e) { return (v(e) * 0.0625 / (v(e) + 0.0625)).sqrt(); },
          [=](const Tensor& e) { return (v(e) / 0.0625 / (v(e) + 0.0625)).sqrt(); },
          [=](const Tensor& e) { return (0.0625 / v(e) / (v(e) + 0.0625)).sqrt(); }};
}

// Returns the sum of fractions of the image n at the eigenvalues.
Tensor values_at(const Tensor& e,
                 const PartialFractions& found,
                 const ResolventBasis& basis,
                 int64_t n,
                 int64_t function = 0) {
  const Tensor w = found.weights[function][n];
  Tensor sum = w[0].expand_as(e);
  for (int64_t j = 1; j < w.size(0); ++j) {
    const double s = basis.shifts()[static_cast<size_t>(found.first + j - 1)];
    sum = sum + w[j] * s / (e + s);
  }
  return sum;
}

// The error stands for all eigenvalues, also those between the points of the fit, and a function
// that varies at large eigenvalues only needs no small shifts.
TEST(PartialFractions, ApproximateTheFunctionsOfThePreconditioning) {
  const ResolventBasis basis(1, 35, 2), coarse(1, 24, 2.5);
  const Tensor e =
      at::cat({at::zeros({1}, at::kDouble), at::logspace(-12, 0, 997, 10.0, at::kDouble)});
  for (const ResolventBasis* some : {&basis, &coarse})
    for (const double sigma : {80.0, 1.0, 0.02})
      for (const Function& f : scales(sigma)) {
        const PartialFractions found = some->fit({f});
        ASSERT_LE(found.error, 1e-3);
        const Tensor wanted = f(e);
        const Tensor error = (values_at(e, found, *some, 0) - wanted).abs() /
                             at::maximum(wanted, 1e-3 * wanted.max());
        EXPECT_LT(error.max().item<double>(), 1.5e-3) << sigma;
      }
  const int64_t at_high_noise = basis.fit({scales(80)[0]}).first;
  const int64_t at_low_noise = basis.fit({scales(0.2)[0]}).first;
  EXPECT_LT(at_high_noise + 8, at_low_noise);
}

// A resolvent between the shifts, or beyond the largest, has a small error relative to itself, so
// that a few corrections solve with it; and one at a shift is that shift's own.
TEST(PartialFractions, ApproximateResolvents) {
  const ResolventBasis basis(2, 24, 2.5);
  const Tensor e =
      at::cat({at::zeros({1}, at::kDouble), 2 * at::logspace(-12, 0, 997, 10.0, at::kDouble)});
  const Tensor lambda =
      at::tensor({6e-8, 1e-5, 3e-3, basis.shifts()[20], 0.7, 30.0, 1e4}, at::kDouble)
          .reshape({-1, 1, 1, 1});
  const auto f = [&](const Tensor& e) { return 1 / (e + lambda); };
  const PartialFractions found = basis.fit({f}, 1e-4, 0);
  for (int64_t n = 0; n < lambda.size(0); ++n) {
    const Tensor product = (e + lambda[n].item<double>()) * values_at(e, found, basis, n);
    EXPECT_LT((product - 1).abs().max().item<double>(), n == 3 ? 1e-10 : 6e-4) << lambda[n];
  }
}

// Functions that are fitted together are those fitted alone, with as many shifts.
TEST(PartialFractions, FitEachFunctionOfABatch) {
  const ResolventBasis basis(1, 35, 2);
  const Tensor sigma = at::tensor({80.0, 5.0, 0.3}, at::kDouble).reshape({3, 1, 1, 1});
  const auto f = [](const Tensor& sigma) {
    return [sigma](const Tensor& e) {
      return (sigma.square() / (1 + e * sigma.square()) + 1).rsqrt();
    };
  };
  const PartialFractions together = basis.fit({f(sigma)});
  const Tensor e = at::logspace(-10, 0, 97, 10.0, at::kDouble);
  for (int64_t n = 0; n < 3; ++n) {
    const Tensor wanted = f(sigma[n])(e).flatten();
    const Tensor error = (values_at(e, together, basis, n) - wanted).abs() / wanted;
    EXPECT_LT(error.max().item<double>(), 1.5e-3);
  }
  EXPECT_EQ(together.first, basis.fit({f(sigma.slice(0, 0, 1))}).first);
}

// Several functions have the shifts of the one that needs the most.
TEST(PartialFractions, FitSeveralFunctionsWithTheSameShifts) {
  const ResolventBasis basis(1, 35, 2);
  const Tensor e = at::logspace(-10, 0, 97, 10.0, at::kDouble);
  std::vector<Function> functions = scales(80);
  functions.push_back(scales(0.2)[0]);
  const PartialFractions together = basis.fit(functions);
  EXPECT_LE(together.error, 1e-3);
  int64_t least = together.first;
  for (size_t i = 0; i < functions.size(); ++i) {
    const Tensor wanted = functions[i](e);
    const Tensor error = (values_at(e, together, basis, 0, static_cast<int64_t>(i)) - wanted).abs();
    EXPECT_LT((error / at::maximum(wanted, 1e-3 * wanted.max())).max().item<double>(), 1.5e-3) << i;
    least = std::min(least, basis.fit({functions[i]}).first);
  }
  EXPECT_EQ(together.first, least);
}

// Eigenvalues over eight decades and a null space, the vectors of a batch with different scales.
struct Diagonal {
  Tensor e = at::cat({at::zeros({50}, at::kDouble), at::logspace(-8, 0, 250, 10.0, at::kDouble)});
  Tensor b = Rng(3).normal({3, 300}) * at::tensor({1.0, 100.0, 0.0}, at::kDouble).unsqueeze(1);
  Function product = [this](const Tensor& u) { return u * e; };
};

TEST(SumOfResolvents, IsTheFunctionToItsTolerance) {
  const Diagonal M;
  const ResolventBasis basis(1, 35, 2);
  const std::vector<double>& shifts = basis.shifts();
  for (const double sigma : {80.0, 1.0, 0.02})
    for (const Function& f : scales(sigma)) {
      const PartialFractions found = basis.fit({f});
      const std::vector<double> used(shifts.begin() + found.first, shifts.end());
      const auto answer = [&](const Tensor& b, double tolerance) {
        return sums_of_resolvents(M.product, b, used, found.weights, {.tolerance = tolerance})[0];
      };
      const Tensor exact = values_at(M.e, found, basis, 0) * M.b;
      for (const double tolerance : {1e-2, 1e-4}) {
        const Tensor error = answer(M.b, tolerance) - exact;
        const Tensor relative = (batch_dot(error, error) / batch_dot(exact, exact)).sqrt();
        EXPECT_LE(relative.slice(0, 0, 2).max().item<double>(), tolerance) << sigma;
        EXPECT_EQ(error[2].abs().max().item<double>(), 0);
      }
      // A sample alone ends where it ends among others; these decide when shifts are forgotten,
      // which is rounding.
      const Tensor together = answer(M.b, 1e-3);
      for (int64_t n = 0; n < 3; ++n)
        EXPECT_TRUE(
            answer(M.b.slice(0, n, n + 1), 1e-3).allclose(together[n].unsqueeze(0), 1e-8, 1e-9));
    }
}

// All functions are within the tolerance, though one alone would end earlier.
TEST(SumOfResolvents, GivesSeveralFunctionsAtOnce) {
  const Diagonal M;
  const ResolventBasis basis(1, 35, 2);
  const PartialFractions found = basis.fit(scales(80));
  const std::vector<double> used(basis.shifts().begin() + found.first, basis.shifts().end());
  const Tensor sums = sums_of_resolvents(M.product, M.b, used, found.weights, {.tolerance = 1e-4});
  ASSERT_EQ(sums.sizes(), at::IntArrayRef({5, 3, 300}));
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor exact = values_at(M.e, found, basis, 0, i) * M.b, error = sums[i] - exact;
    EXPECT_LE((error.norm(2, 1) / exact.norm(2, 1)).slice(0, 0, 2).max().item<double>(), 1e-4) << i;
  }
}

TEST(SumOfResolvents, SaysWhenItDoesNotConverge) {
  const Diagonal M;
  const Tensor weights = at::tensor({0.0, 1.0}, at::kDouble).reshape({1, 1, 2});
  EXPECT_NE(error_of([&] {
              sums_of_resolvents(M.product, M.b, {1e-6}, weights, {.max_iterations = 8});
            }).find("after 8 iterations, wanted 0.001"),
            std::string::npos);
}

// Moments are exact for half as many steps as there are eigenvalues in the vector.
TEST(SpectralMeasure, HasTheMomentsOfTheVector) {
  const Tensor e = Rng(2).uniform({40});
  const Tensor b = Rng(3).normal({2, 40});
  const SpectralMeasure measure = spectral_measure([&](const Tensor& u) { return u * e; }, b, 12);
  for (int64_t power = 0; power < 24; ++power) {
    const Tensor wanted = (b.square() * e.pow(power)).sum(1);
    const Tensor found = (measure.weights * measure.nodes.pow(power)).sum(1);
    EXPECT_TRUE(found.allclose(wanted, 1e-9)) << power;
  }
}

TEST(SpectralMeasure, EndsInAnInvariantSpace) {
  const Tensor e = (at::arange(60) % 2).to(at::kDouble);
  Tensor b = Rng(3).normal({2, 60});
  b[1].zero_();
  const SpectralMeasure measure = spectral_measure([&](const Tensor& u) { return u * e; }, b, 8);
  const Tensor at_one = (measure.weights * (measure.nodes > 0.5)).sum(1);
  EXPECT_NEAR(at_one[0].item<double>(), (b[0].square() * e).sum().item<double>(), 1e-10);
  EXPECT_EQ(measure.weights[1].abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace eps
