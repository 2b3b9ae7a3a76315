// The method of docs/add_a_method.md: it is registered here, so the tests that every method must
// pass run over it, too.
#include <iostream>

#include "examples/extend/one_look.cc"
#include "tests/documented.h"
#include "tests/methods/projection_testbed.h"

namespace eps {
namespace {

TEST(DocumentedMethod, IsTheOneThatIsTested) {
  EXPECT_EQ(documented_code("add_a_method.md"), example_code("one_look.cc"));
}

// Under the prior N(m, t^2 I) the look at a high noise level is m + (t^2/sigma) n, all but n's part
// the mean, and lambda = sigma_y^2/t^2 makes the other look the posterior mean.
TEST(DocumentedMethod, IsThePosteriorMeanOfAWhitePrior) {
  const Tensor m = Rng(3).normal({1, 1, 4, 4});
  const Mixture prior(at::ones({1}, at::kDouble), m, 0.25 * at::eye(16, at::kDouble).unsqueeze(0));
  for (const auto& spec : operators_with_basis()) {
    SCOPED_TRACE(spec);
    Rng rng(4);
    const Operator A = make_operator(spec, m, rng);
    const Problem problem = observe(A, prior.sample(rng, 1), scalar(0.1), rng);
    const Samples samples = sample_posterior(
        choose_method("one_look:sigma=1000,lambda=0.04"), prior, problem, {1, 1, 4, 4}, rng);
    const Tensor error = samples.images[0] - prior.posterior(problem).mean();
    EXPECT_LT(error.abs().max().item<double>(), 5 * 0.25 / 1000);
    EXPECT_EQ(samples.cost.evaluations, 1);
    EXPECT_EQ(samples.cost.solves, 1);
  }
}

// The registry stays broken, so the clash happens in a process of its own.
TEST(MethodRegistryDeathTest, ANameThatIsTakenIsAnErrorOnUse) {
  const auto clash = [] {
    Method other = methods().at("eps");
    other.summary = "another";
    const bool added = register_method(other);
    std::cerr << eps::error_of([] { choose_method("eps"); });
    std::_Exit(added ? 1 : 0);
  };
  EXPECT_EXIT(clash(), testing::ExitedWithCode(0), "method \"eps\" is registered twice");
}

}  // namespace
}  // namespace eps
