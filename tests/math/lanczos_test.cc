// Functions of matrices by the Lanczos process, against eigenvalues.
#include "eps/math/lanczos.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/base/random.h"
#include "tests/files.h"

namespace eps {
namespace {

// Symmetric matrices Q diag(e) Q' of a batch, with known eigenvalues.
struct Known {
  Tensor Q, e;

  Known(const Tensor& eigenvalues) : e(eigenvalues) {
    const int64_t n = e.size(1);
    Q = std::get<0>(at::linalg_qr(Rng(1).normal({e.size(0), n, n})));
  }
  Tensor function(const std::function<Tensor(const Tensor&)>& f, const Tensor& b) const {
    const Tensor in_basis = at::matmul(Q.transpose(1, 2), b.unsqueeze(2));
    return at::matmul(Q, f(e).unsqueeze(2) * in_basis).squeeze(2);
  }
  Tensor product(const Tensor& u) const {
    return function([](const Tensor& x) { return x; }, u);
  }
};

double relative(const Tensor& value, const Tensor& wanted) {
  return ((value - wanted).norm() / wanted.norm()).item<double>();
}

// The three functions of the anisotropic preconditioning at a high and at a low noise level.
TEST(Lanczos, ComputesTheFunctionsOfThePreconditioning) {
  const Known M(Rng(2).uniform({3, 200}).pow(4));
  const Tensor b = Rng(3).normal({3, 200});
  for (const double sigma : {80.0, 0.1}) {
    const auto v = [sigma](const Tensor& e) { return 1 / (1 / (sigma * sigma) + e / 0.0025); };
    const std::vector<std::function<Tensor(const Tensor&)>> functions = {
        [&](const Tensor& e) { return (v(e) + 0.25).rsqrt(); },
        [&](const Tensor& e) { return 0.25 / (v(e) + 0.25); },
        [&](const Tensor& e) { return (v(e) * 0.25 / (v(e) + 0.25)).sqrt(); }};
    Lanczos process([&](const Tensor& u) { return M.product(u); }, b);
    for (const auto& f : functions) EXPECT_LT(relative(process(f), M.function(f, b)), 1e-5);
    EXPECT_LE(process.steps(), sigma < 1 ? 24 : 220);
  }
}

// Two different eigenvalues span a space of two dimensions, in which every function is exact; a
// vector of zeros has none, and disturbs no neighbour.
TEST(Lanczos, EndsInAnInvariantSpace) {
  const Tensor e = (at::arange(60) % 2).to(at::kDouble).expand({2, 60});
  const Known M(e);
  Tensor b = Rng(3).normal({2, 60});
  b[1].zero_();
  const auto f = [](const Tensor& x) { return (3 * x).cos(); };
  Lanczos process([&](const Tensor& u) { return M.product(u); }, b);
  const Tensor answer = process(f);
  EXPECT_LT(relative(answer[0], M.function(f, b)[0]), 1e-12);
  EXPECT_EQ(answer[1].abs().max().item<double>(), 0);
}

// A sample with a narrow spectrum is done long before its neighbours, and another function has
// grown the space: neither changes what the sample gets alone, though the tolerance is loose.
TEST(Lanczos, GivesEachSampleWhatItGetsAlone) {
  Tensor e = Rng(2).uniform({3, 100});
  e[1] = 0.5 + 0.01 * e[1];
  const Known M(e);
  const Tensor b = Rng(3).normal({3, 100});
  const auto steep = [](const Tensor& x) { return (x + 1e-4).rsqrt(); };
  const auto gentle = [](const Tensor& x) { return 1 / (x + 1); };
  Lanczos together([&](const Tensor& u) { return M.product(u); }, b, {.tolerance = 1e-2});
  const Tensor first = together(steep), second = together(gentle);
  for (int64_t n = 0; n < 3; ++n) {
    const auto product = [&](const Tensor& u) {
      const Tensor Q = M.Q[n];
      return at::matmul(at::matmul(u, Q) * M.e[n], Q.t());
    };
    Lanczos alone(product, b.slice(0, n, n + 1), {.tolerance = 1e-2});
    EXPECT_LT(relative(second[n], alone(gentle)[0]), 1e-10) << n;
    EXPECT_LT(relative(first[n], alone(steep)[0]), 1e-10) << n;
  }
}

TEST(Lanczos, SaysWhenItDoesNotConverge) {
  const Known M(Rng(2).uniform({1, 200}));
  const Tensor b = Rng(3).normal({1, 200});
  Lanczos process([&](const Tensor& u) { return M.product(u); }, b, {.max_steps = 8});
  EXPECT_NE(error_of([&] {
              process([](const Tensor& x) { return (500 * x).sin(); });
            }).find("Lanczos: the last steps of 8 changed the result by "),
            std::string::npos);
}

}  // namespace
}  // namespace eps
