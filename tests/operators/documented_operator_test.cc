// The operator of docs/add_an_operator.md: it is registered here, so the contract in
// contract_test.cc runs over its example, too.
#include "eps/verify/contract.h"
#include "examples/extend/ghost.cc"
#include "tests/documented.h"

namespace eps {
namespace {

TEST(DocumentedOperator, IsTheOneThatIsTested) {
  EXPECT_EQ(documented_code("add_an_operator.md"), example_code("ghost.cc"));
}

// Strength 0.5 leaves nothing of the odd part; a range gives each image a map of its own.
TEST(DocumentedOperator, SatisfiesTheContract) {
  for (const std::string spec : {"ghost", "ghost:strength=0.5", "ghost:strength=0.1..0.4"}) {
    SCOPED_TRACE(spec);
    const Shape image{3, 2, 4, 6};
    Rng rng(5, image[0]);
    const Operator A = make_operator(spec, at::empty(image, at::kDouble), rng);
    EXPECT_LT(adjoint_error(*A, image, rng), 1e-10);
    EXPECT_LT(filter_error(*A, image, rng), 1e-10);
    for (const double lambda : {1e-6, 1e-2, 1e2}) {
      EXPECT_LT(ridge_residual(*A, image, lambda, rng), 1e-9) << lambda;
      EXPECT_LT(ridge_against_cg(*A, image, lambda, rng), 1e-6) << lambda;
    }
    for (const double sigma : {0.002, 1.0, 80.0}) {
      EXPECT_LT(pivot_residual(A, image, sigma, rng), 1e-8) << sigma;
      EXPECT_LT(float32_pivot_error(A, image, sigma, rng), 2e-3) << sigma;
    }
  }
}

// The claims for one image: Prop. 3, Thm. 1 and Obs. 4.
TEST(DocumentedOperator, HasAnExactPosterior) {
  for (const std::string spec : {"ghost", "ghost:strength=0.5"}) {
    SCOPED_TRACE(spec);
    const Shape image{1, 1, 4, 4};
    Rng rng(5);
    const Operator A = make_operator(spec, at::empty(image, at::kDouble), rng);
    const MomentTest law = pivot_law(A, image, 1, 2000, rng);
    EXPECT_LT(std::abs(law.mean_z), 5);
    EXPECT_LT(std::abs(law.covariance_z), 5);
    EXPECT_LT(score_error(A, example_mixture({1, 4, 4}, 2, 3), image, edm().at(scalar(1)), rng),
              1e-5);
    EXPECT_LT(limit_error(A, image, rng), 1e-6);
  }
}

}  // namespace
}  // namespace eps
