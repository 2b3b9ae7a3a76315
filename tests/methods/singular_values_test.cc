// DDRM and DDNM+, singular value by singular value, against a dense decomposition.
#include <array>
#include <cmath>

#include "eps/operators/factories.h"
#include "tests/methods/projection_testbed.h"

namespace eps {
namespace {

// A = U diag(v) V', all of V; and u'y.
struct SingularValues {
  explicit SingularValues(const MethodTestbed& bed) {
    const auto [U, S, Vt] = at::linalg_svd(bed.A, true);
    V = Vt.t();
    for (int64_t i = 0; i < 16; ++i) {
      const double value = i < S.numel() ? S[i].item<double>() : 0;
      v.push_back(value > 1e-11 ? value : 0);
      uy.push_back(v.back() > 0 ? at::matmul(bed.y, U.select(1, i)) : Tensor());
    }
  }
  Tensor component(const Tensor& rows, size_t i) const {
    return at::matmul(rows, V.select(1, static_cast<int64_t>(i)));
  }
  Tensor V;
  std::vector<double> v;
  std::vector<Tensor> uy;  // (N) each
};

// The three cases of DDRM, component by component; counts how often each occurred.
struct DenseDdrm {
  const MethodTestbed& bed;
  double eta, eta_b;
  SingularValues svd{bed};
  std::array<int, 3> cases = {};

  Tensor start(const Tensor& noise, double s) const {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < 16; ++i) {
      const Tensor z = svd.component(noise, i);
      const double noise_of_y = bed.sigma_y / svd.v[i];
      parts.push_back(svd.v[i] * s > bed.sigma_y
                          ? svd.uy[i] / svd.v[i] + std::sqrt(s * s - noise_of_y * noise_of_y) * z
                          : s * z);
    }
    return at::matmul(at::stack(parts, 1), svd.V.t());
  }
  Tensor step(const Tensor& x, double s, double next, const Tensor& noise) {
    const Tensor all = bed.D(x, s);
    std::vector<Tensor> parts;
    for (size_t i = 0; i < 16; ++i) {
      const double v = svd.v[i], kept = std::sqrt(1 - eta * eta) * next;
      const Tensor D = svd.component(all, i), z = svd.component(noise, i);
      const Tensor n = (svd.component(x, i) - D) / s;
      if (v == 0) {
        ++cases[0];
        parts.push_back(D + kept * n + eta * next * z);
      } else if (next * v < bed.sigma_y) {
        ++cases[1];
        parts.push_back(D + kept * (svd.uy[i] - v * D) / bed.sigma_y + eta * next * z);
      } else {
        ++cases[2];
        const double noise_of_y = eta_b * bed.sigma_y / v;
        parts.push_back((1 - eta_b) * D + eta_b * svd.uy[i] / v +
                        std::sqrt(next * next - noise_of_y * noise_of_y) * z);
      }
    }
    return at::matmul(at::stack(parts, 1), svd.V.t());
  }
};

// lambda, d1 and d2 by singular value, as DDNM+ states them.
TEST(Ddnm, ScalesBySingularValueWithTheSingularRule) {
  const double eta = 0.6, kept = 0.8;
  std::array<int, 3> cases = {};
  for (const auto& spec : operators_with_basis()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const SingularValues svd(bed);
    auto run = bed.run(with_levels("ddnm:rule=singular,eta=0.6"));
    Tensor x = 2 * run.noise;
    for (const auto& [s, next] : kSteps) {
      std::vector<double> lambda, d1, d2;
      for (const double v : svd.v) {
        const double noise_of_y = bed.sigma_y / v;
        const bool below = next < noise_of_y;
        ++cases[v == 0 ? 0 : below ? 1 : 2];
        lambda.push_back(below ? v * next * kept / bed.sigma_y : 1);
        d1.push_back(v == 0 || below ? eta * next
                                     : std::sqrt(next * next - noise_of_y * noise_of_y));
        d2.push_back(v == 0 ? kept * next : 0);
      }
      const auto scaled = [&](const Tensor& rows, const std::vector<double>& by) {
        return at::matmul(at::matmul(rows, svd.V) * at::tensor(by, at::kDouble), svd.V.t());
      };
      const Tensor D = bed.D(x, s);
      x = D + scaled(regularised_inverse(bed, misfit(bed, D), 0), lambda) +
          scaled(bed.draw(run.rng), d1) + scaled((x - D) / s, d2);
    }
    expect_close(run.x, x);
    EXPECT_EQ(run.cost.evaluations, 3 * 3);
    EXPECT_EQ(run.cost.solves, 3 * 3);
  }
  for (const int count : cases) EXPECT_GT(count, 0);
}

TEST(Ddrm, DiffusesEachSingularComponentByItself) {
  std::array<int, 3> cases = {};
  for (const auto& spec : operators_with_basis()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    for (const auto& [eta, eta_b] : {std::pair{0.85, 1.0}, std::pair{0.3, 0.7}}) {
      auto run = bed.run(
          with_levels("ddrm:eta=" + std::to_string(eta) + ",eta_b=" + std::to_string(eta_b)));
      DenseDdrm dense{bed, eta, eta_b};
      Tensor x = dense.start(run.noise, 2);
      for (const auto& [s, next] : kSteps) x = dense.step(x, s, next, bed.draw(run.rng));
      expect_close(run.x, x);
      EXPECT_EQ(run.cost.evaluations, 3 * 3);
      EXPECT_EQ(run.cost.vjps, 0);
      EXPECT_EQ(run.cost.solves, (3 + 1) * 3);
      for (size_t i = 0; i < 3; ++i) cases[i] += dense.cases[i];
    }
  }
  for (const int count : cases) EXPECT_GT(count, 0);
}

// A blur that all but removes the highest frequency: v from 1e-10 to 1.
TEST(Ddrm, IsAccurateForTinySingularValues) {
  for (const double sigma_y : {0.1, 0.0}) {
    SCOPED_TRACE(sigma_y);
    MethodTestbed bed("blur_gaussian:std=0.6,size=3");
    const Tensor line = at::tensor({1.0, 0.5, 1e-5, 0.5}, at::kDouble);
    const Tensor kernel = at::real(at::fft_ifft2(at::outer(line, line).to(at::kComplexDouble)));
    const Operator A = circular_blur(at::roll(kernel, {2, 2}, {0, 1}).unsqueeze(0), 4, 4);
    Rng rng(14, 3);
    bed.problem = observe(A, bed.prior.sample(rng, 3), scalar(sigma_y), rng);
    bed.sigma_y = sigma_y;
    bed.y = MethodTestbed::rows(bed.problem.y);
    bed.A =
        matrix_of([&](const Tensor& x) { return A->apply(x); }, {1, 1, 4, 4}, 1, at::kDouble)[0];
    auto run = bed.run(with_levels("ddrm"));
    DenseDdrm dense{bed, 0.85, 1};
    ASSERT_NEAR(dense.svd.v.back(), 1e-10, 1e-13);
    Tensor x = dense.start(run.noise, 2);
    for (const auto& [s, next] : kSteps) x = dense.step(x, s, next, bed.draw(run.rng));
    // y~ = u'y/v for a sum u'y of numbers around 1: its rounding is 1e-16/v.
    expect_close(run.x, x, 1e-5);
  }
}

}  // namespace
}  // namespace eps
