// Conjugate gradients on systems whose solution is known.
#include "eps/math/conjugate_gradients.h"

#include <gtest/gtest.h>

#include "eps/base/random.h"
#include "tests/files.h"

namespace eps {
namespace {

TEST(ConjugateGradients, StopsPerSampleAndSaysHowFarItIs) {
  const Tensor diagonal = at::tensor({1.0, 2.0, 3.0, 1e8}, at::kDouble);
  const auto apply = [&](const Tensor& u) { return u * diagonal; };
  const Tensor b = Rng(1).normal({3, 4});
  const Tensor together = conjugate_gradients(apply, b);
  EXPECT_TRUE(together.allclose(b / diagonal));
  for (int64_t n = 0; n < 3; ++n)
    EXPECT_TRUE(
        conjugate_gradients(apply, b.slice(0, n, n + 1)).equal(together.slice(0, n, n + 1)));
  try {
    conjugate_gradients(apply, b, {.tolerance = 1e-10, .max_iterations = 2});
    FAIL() << "two iterations cannot be enough";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("after 2 iterations, wanted 1e-10"), std::string::npos)
        << error.what();
  }
}

// One system is zero, one is solved in a step: neither disturbs the third, nor becomes NaN.
TEST(ConjugateGradients, FinishedSystemsStayFinite) {
  const Tensor diagonal = at::tensor({1.0, 2.0, 3.0, 50.0}, at::kDouble);
  const Tensor b = at::stack({at::zeros({4}, at::kDouble),
                              diagonal * at::tensor({0.0, 1.0, 0.0, 0.0}, at::kDouble),
                              Rng(1).normal({4})});
  EXPECT_TRUE(
      conjugate_gradients([&](const Tensor& u) { return u * diagonal; }, b).allclose(b / diagonal));
}

// A residual that is no number is a failure, at once and by name, not an answer.
TEST(ConjugateGradients, RefusesToAnswerNaN) {
  const Tensor b = at::stack({Rng(1).normal({4}), at::full({4}, NAN, at::kDouble)});
  for (const Tensor& system : {b, b.slice(0, 1, 2)}) {
    try {
      conjugate_gradients([](const Tensor& u) { return 2 * u; }, system);
      ADD_FAILURE() << "NaN was taken for an answer";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("|r|/|b| = nan"), std::string::npos) << error.what();
    }
  }
}

// Eigenvalues over seven decades, the smallest exactly the bound that is given: as of A'A + lambda.
TEST(ConjugateGradients, BoundsTheEnergyOfItsError) {
  const double lambda = 1e-6;
  const Tensor eigenvalue =
      at::cat({at::zeros({20}, at::kDouble), at::logspace(-7, 0, 80)}) + lambda;
  const auto apply = [&](const Tensor& u) { return u * eigenvalue; };
  const Tensor b = Rng(3).normal({4, 100}) * eigenvalue.sqrt();
  int64_t before = 0;
  for (const double energy : {1.0, 1e-2, 1e-4, 1e-8}) {
    const ConjugateGradientsOptions options{.energy = scalar(energy), .smallest = scalar(lambda)};
    const Solution found = solve_conjugate_gradients(apply, b, options);
    const Tensor error = found.u - b / eigenvalue;
    const Tensor truth = batch_dot(error, apply(error));
    EXPECT_TRUE((truth <= found.energy * (1 + 1e-6)).all().item<bool>()) << energy;
    EXPECT_TRUE((found.energy <= energy).all().item<bool>()) << energy;
    EXPECT_GT(found.iterations, before) << energy;
    before = found.iterations;
    for (int64_t n = 0; n < 4; ++n)
      EXPECT_TRUE(solve_conjugate_gradients(apply, b.slice(0, n, n + 1), options)
                      .u.equal(found.u.slice(0, n, n + 1)));
    // From its own answer it has nothing left to do.
    const Solution again = solve_conjugate_gradients(
        apply, b, {.start = b / eigenvalue, .energy = scalar(energy), .smallest = scalar(lambda)});
    EXPECT_EQ(again.iterations, 0);
  }
}

// With the inverse as preconditioner one step is the answer, and r'P r the energy; a rough one
// saves most of the steps.
TEST(ConjugateGradients, TakeAPreconditioner) {
  const Tensor eigenvalue = at::logspace(-6, 0, 100).to(at::kDouble);
  const auto apply = [&](const Tensor& u) { return u * eigenvalue; };
  const Tensor b = Rng(3).normal({4, 100}), wanted = b / eigenvalue;
  const auto solved = [&](const Tensor& factor, double tolerance) {
    return solve_conjugate_gradients(
        apply, b, {.tolerance = tolerance, .precondition = [=](const Tensor& r) {
                     return r * factor / eigenvalue;
                   }});
  };
  const Solution exact = solved(at::ones({100}, at::kDouble), 1e-10);
  EXPECT_EQ(exact.iterations, 1);
  EXPECT_LT((exact.u - wanted).abs().max().item<double>() / 1e6, 1e-9);
  const Tensor rough = Rng(4).uniform({100}) + 0.5;  // within a factor of 3
  const Solution near = solved(rough, 1e-12);
  EXPECT_LT(near.iterations, 40);
  EXPECT_GT(solve_conjugate_gradients(apply, b, {.tolerance = 1e-12}).iterations, 80);
  EXPECT_LT(((near.u - wanted) / wanted).abs().max().item<double>(), 1e-6);
  const Solution early = solve_conjugate_gradients(
      apply, b, {.energy = scalar(1e-3), .precondition = [=](const Tensor& r) {
                   return r * rough / eigenvalue;
                 }});
  const Tensor error = early.u - wanted;
  // The estimate is right to the factor within which the preconditioner is.
  EXPECT_TRUE((batch_dot(error, apply(error)) <= 2 * early.energy).all().item<bool>());
  EXPECT_TRUE((early.energy <= 1e-3).all().item<bool>());
}

TEST(ConjugateGradients, AnswersZeroToZero) {
  EXPECT_TRUE(conjugate_gradients([](const Tensor& u) { return u; }, at::zeros({2, 3}, at::kDouble))
                  .eq(0)
                  .all()
                  .item<bool>());
}

}  // namespace
}  // namespace eps
