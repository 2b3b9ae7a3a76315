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

// The three functions of the anisotropic preconditioning, prior variance 1/16, sigma_y = 0.05.
std::vector<Function> scales(double sigma) {
  const auto v = [sigma](const Tensor& e) { return 1 / (1 / (sigma * sigma) + e / 0.0025); };
  return {[=](const Tensor& e) { return (v(e) + 0.0625).rsqrt(); },
          [=](const Tensor& e) { return 0.0625 / (v(e) + 0.0625); },
          [=](const Tensor& e) { return (v(e) * 0.0625 / (v(e) + 0.0625)).sqrt(); }};
}

// The error stands for all eigenvalues, also those between the points of the fit, and a function
// that varies at large eigenvalues only needs no small shifts.
TEST(PartialFractions, ApproximateTheFunctionsOfThePreconditioning) {
  const std::vector<double> shifts = resolvent_shifts(1, 34, 2);
  const Tensor e =
      at::cat({at::zeros({1}, at::kDouble), at::logspace(-12, 0, 997, 10.0, at::kDouble)});
  for (const double sigma : {80.0, 1.0, 0.02})
    for (const Function& f : scales(sigma)) {
      const PartialFractions found = partial_fractions(f, shifts, 1);
      ASSERT_LE(found.error, 1e-3);
      Tensor sum = found.weights[0][0].expand_as(e);
      for (size_t j = found.first; j < shifts.size(); ++j)
        sum = sum + found.weights[0][static_cast<int64_t>(1 + j - found.first)] * shifts[j] /
                        (e + shifts[j]);
      const Tensor wanted = f(e);
      const Tensor error = (sum - wanted).abs() / at::maximum(wanted, 1e-3 * wanted.max());
      EXPECT_LT(error.max().item<double>(), 1.5e-3) << sigma;
    }
  const size_t at_high_noise = partial_fractions(scales(80)[0], shifts, 1).first;
  const size_t at_low_noise = partial_fractions(scales(0.2)[0], shifts, 1).first;
  EXPECT_LT(at_high_noise + 8, at_low_noise);
}

// Eigenvalues over eight decades and a null space, the vectors of a batch with different scales.
struct Diagonal {
  Tensor e = at::cat({at::zeros({50}, at::kDouble), at::logspace(-8, 0, 250, 10.0, at::kDouble)});
  Tensor b = Rng(3).normal({3, 300}) * at::tensor({1.0, 100.0, 0.0}, at::kDouble).unsqueeze(1);
  Function product = [this](const Tensor& u) { return u * e; };
};

TEST(SumOfResolvents, IsTheFunctionToItsTolerance) {
  const Diagonal M;
  const std::vector<double> shifts = resolvent_shifts(1, 34, 2);
  for (const double sigma : {80.0, 1.0, 0.02})
    for (const Function& f : scales(sigma)) {
      const PartialFractions found = partial_fractions(f, shifts, 1);
      const std::vector<double> used(shifts.begin() + static_cast<std::ptrdiff_t>(found.first),
                                     shifts.end());
      const auto answer = [&](const Tensor& b, double tolerance) {
        return sum_of_resolvents(M.product, b, used, found.weights, {.tolerance = tolerance});
      };
      Tensor exact = found.weights[0][0] * M.b;
      for (size_t j = 0; j < used.size(); ++j)
        exact =
            exact + found.weights[0][static_cast<int64_t>(j + 1)] * used[j] * M.b / (M.e + used[j]);
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

TEST(SumOfResolvents, SaysWhenItDoesNotConverge) {
  const Diagonal M;
  const Tensor weights = at::tensor({0.0, 1.0}, at::kDouble).unsqueeze(0);
  EXPECT_NE(error_of([&] {
              sum_of_resolvents(M.product, M.b, {1e-6}, weights, {.max_iterations = 8});
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
