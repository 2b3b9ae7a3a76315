// Methods guided by the residual of the denoised image, against their formulas with dense matrices.
#include <fmt/format.h>

#include <cmath>

#include "tests/methods/method_testbed.h"

namespace eps {
namespace {

// Two steps, from 2 to 0.5 to 0.
TEST(Dps, IsEulerMinusTheGradientOfTheResidualNorm) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const auto run = bed.run("dps:steps=2,sigma_max=2,sigma_min=0.5,scale=0.7");
    Tensor x = 2 * run.noise;
    for (const auto& [s, next] : {std::pair{2.0, 0.5}, std::pair{0.5, 0.0}}) {
      const Tensor D = bed.D(x, s), r = at::matmul(D, bed.A.t()) - bed.y;
      // d|A D - y|/dx = K'A'(A D - y)/|A D - y|
      const Tensor gradient = at::matmul(at::matmul(r / r.norm(2, {1}, true), bed.A), bed.K(s));
      x = x + (next - s) * (x - D) / s - 0.7 * gradient;
    }
    expect_close(run.x, x);
    expect_cost(run.cost, {2 * 3, 2 * 3, 0});
  }
}

TEST(Dps, PassesNoGradientThroughTheClip) {
  const MethodTestbed bed(testbed_operators()[0]);
  const auto run = bed.run("dps:steps=1,sigma_max=30,scale=0.7,clip=1");
  const Tensor x = 30 * run.noise;
  const Tensor D = bed.D(x, 30), clipped = D.clamp(-1, 1);
  ASSERT_FALSE(at::equal(D, clipped));
  const Tensor r = at::matmul(clipped, bed.A.t()) - bed.y;
  const Tensor pulled = at::matmul(r / r.norm(2, {1}, true), bed.A) * (D == clipped);
  expect_close(run.x, clipped - 0.7 * at::matmul(pulled, bed.K(30)));
}

// DDIM's step of each convention, from the noise estimate e of variance 1.
Tensor ddim_by_hand(const Tensor& x0,
                    const Tensor& e,
                    double s,
                    double next,
                    double eta,
                    bool ancestral,
                    const Tensor& fresh) {
  const double noise = eta * next * (ancestral ? std::sqrt(1 - next * next / (s * s)) : 1);
  return x0 + std::sqrt(next * next - noise * noise) * e + noise * fresh;
}

// Two steps of PiGDM from 2 to 0.5 to 0, for data of variance v.
Tensor pigdm_by_hand(const MethodTestbed& bed,
                     MethodTestbed::Run run,
                     double zeta,
                     double eta,
                     bool ancestral,
                     double v) {
  Tensor x = 2 * run.noise;
  for (const auto& [s, next] : {std::pair{2.0, 0.5}, std::pair{0.5, 0.0}}) {
    const Tensor D = bed.D(x, s), r = bed.y - at::matmul(D, bed.A.t());
    const double r2 = s * s * v / (s * s + v);
    // pinv, since the rows of A that measure nothing are 0 and sigma_y may be, too.
    const Tensor covariance = r2 * at::matmul(bed.A, bed.A.t()) +
                              bed.sigma_y * bed.sigma_y * at::eye(bed.A.size(0), at::kDouble);
    const Tensor w = at::matmul(r, at::linalg_pinv(covariance, 1e-12));
    const Tensor g = r2 * at::matmul(at::matmul(w, bed.A), bed.K(s));
    x = ddim_by_hand(D, (x - D) / s, s, next, eta, ancestral, bed.draw(run.rng)) + zeta * g;
  }
  return x;
}

TEST(Pigdm, IsDdimPlusTheGuidanceOfAnIsotropicGaussian) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const auto run = bed.run("pigdm:steps=2,sigma_max=2,sigma_min=0.5");
    expect_close(run.x, pigdm_by_hand(bed, run, 1, 1, true, 1));
    expect_cost(run.cost, {2 * 3, 2 * 3, 2 * 3});
    const auto other = bed.run(
        "pigdm:steps=2,sigma_max=2,sigma_min=0.5,zeta=0.7,eta=0.4,convention=renoise,data_std=0.5");
    expect_close(other.x, pigdm_by_hand(bed, other, 0.7, 0.4, false, 0.25));
  }
}

TEST(Pigdm, GuidesByThePseudoInverseWithoutNoise) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    MethodTestbed bed(spec);
    bed.sigma_y = 0;
    bed.problem.sigma_y = scalar(0);
    const auto run = bed.run("pigdm:steps=2,sigma_max=2,sigma_min=0.5");
    expect_close(run.x, pigdm_by_hand(bed, run, 1, 1, true, 1), 1e-7);
  }
}

TEST(Pigdm, RefusesAnUnknownConvention) {
  const MethodTestbed bed(testbed_operators()[0]);
  EXPECT_THROW(bed.run("pigdm:convention=ddpm"), Error);
}

// Two steps, from 2 to 0.5 to 0: the noise is that of the denoised image before its correction.
TEST(Mpgd, IsDdimFromACorrectedImageWithTheOriginalNoise) {
  for (const auto& spec : testbed_operators())
    for (const bool ancestral : {true, false}) {
      SCOPED_TRACE(spec);
      const MethodTestbed bed(spec);
      auto run = bed.run(std::string("mpgd:steps=2,sigma_max=2,sigma_min=0.5,zeta=0.7") +
                         (ancestral ? "" : ",convention=renoise"));
      Tensor x = 2 * run.noise;
      for (const auto& [s, next] : {std::pair{2.0, 0.5}, std::pair{0.5, 0.0}}) {
        const Tensor D = bed.D(x, s), r = at::matmul(D, bed.A.t()) - bed.y;
        const Tensor x0 = D - 0.7 * at::matmul(r / r.norm(2, {1}, true), bed.A);
        x = ddim_by_hand(x0, (x - D) / s, s, next, 0.85, ancestral, bed.draw(run.rng));
      }
      expect_close(run.x, x);
      expect_cost(run.cost, {2 * 3, 0, 0});
    }
}

TEST(Mmps, IsExactForAGaussianOnceItsSystemIsSolved) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    // As many iterations as measurements, and some for rounding.
    const auto run = bed.run("mmps:steps=1,sigma_max=2,iterations=24");
    expect_close(run.x, bed.exact_mean(2 * run.noise, 2), 1e-8);
    expect_cost(run.cost, {3, 25 * 3, 0});
  }
}

// k iterations leave the solution of M v = b in the span of b, M b, ..., M^{k-1} b.
TEST(Mmps, SolvesInTheKrylovSpaceOfItsIterations) {
  for (const auto& spec : testbed_operators())
    for (const int64_t iterations : {1, 2, 3}) {
      SCOPED_TRACE(spec + ", iterations " + std::to_string(iterations));
      const MethodTestbed bed(spec);
      const auto run = bed.run("mmps:steps=1,sigma_max=2,iterations=" + std::to_string(iterations));
      const Tensor D = bed.D(2 * run.noise, 2), b = bed.y - at::matmul(D, bed.A.t());
      const Tensor pulled = 4 * at::matmul(bed.K(2).t(), bed.A.t());  // s^2 J'A'
      const Tensor M = at::matmul(bed.A, pulled) + 0.01 * at::eye(bed.A.size(0), at::kDouble);
      for (int64_t n = 0; n < 3; ++n) {
        std::vector<Tensor> powers{b[n]};
        for (int64_t k = 1; k < iterations; ++k) powers.push_back(at::matmul(M, powers.back()));
        const Tensor V = at::stack(powers, 1), reduced = at::matmul(at::matmul(V.t(), M), V);
        const Tensor v =
            at::matmul(V, at::matmul(at::linalg_inv(reduced), at::matmul(V.t(), b[n])));
        expect_close(run.x[n], D[n] + at::matmul(pulled, v), 1e-8);
      }
    }
}

// A multiple of the state, whose Jacobian is that multiple of I.
class Multiple final : public Denoiser {
 public:
  explicit Multiple(double factor) : factor_(factor) {}
  Tensor mean(const Query& query) const override { return factor_ * query.x; }

 private:
  const double factor_;
};

// What MethodTestbed::run() does, with another denoiser, from this noise.
Samples run_with(const Denoiser& denoiser, const MethodTestbed& bed, const std::string& method) {
  Rng rng(21, 3);
  return sample_posterior(choose_method(method), denoiser, bed.problem, bed.shape, rng);
}
Tensor initial_noise(const MethodTestbed& bed) { return Rng(21, 3).normal(bed.shape); }

// x = 2 n, so D = n: the first image has no residual at all, and no 0/0 for it.
TEST(Mmps, LeavesAnImageThatMeetsItsMeasurements) {
  MethodTestbed bed(testbed_operators()[0]);
  const Tensor D = initial_noise(bed);
  bed.problem.y[0] = bed.problem.A->apply(D)[0];
  const Tensor x = run_with(Multiple(0.5), bed, "mmps:steps=1,sigma_max=2,rho=1").images;
  EXPECT_TRUE(at::equal(x[0], D[0]));
  // The others: M is 0.01 + 4/2 where something is measured.
  expect_close(x, D + 2 / 2.01 * bed.problem.A->format().measured(bed.problem.y - D));
}

// With a negative Jacobian, which no posterior mean has, the system is indefinite.
TEST(Mmps, StaysAtTheDenoisedImageWhereItsSystemIsNotPositive) {
  const MethodTestbed bed(testbed_operators()[0]);
  const Tensor x = run_with(Multiple(-0.5), bed, "mmps:steps=1,sigma_max=2").images;
  expect_close(x, -initial_noise(bed));
}

TEST(Mmps, MeetsTheMeasurementsWithoutNoise) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    MethodTestbed bed(spec);
    bed.problem.sigma_y = scalar(0);
    const auto run = bed.run("mmps:steps=1,sigma_max=2,iterations=40");
    expect_close(at::matmul(run.x, bed.A.t()), bed.y, 1e-8);
  }
}

TEST(Tmpd, DividesByTheRowSumsOfTheCovariance) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const auto run = bed.run("tmpd:steps=1,sigma_max=2");
    const Tensor D = bed.D(2 * run.noise, 2), r = bed.y - at::matmul(D, bed.A.t());
    const Tensor pulled = 4 * at::matmul(bed.K(2).t(), bed.A.t());  // s^2 J'A'
    const Tensor row_sums = at::matmul(bed.A, pulled).sum(1).abs();
    expect_close(run.x, D + at::matmul(r / (0.01 + row_sums), pulled.t()));
    expect_cost(run.cost, {3, 2 * 3, 0});
  }
}

TEST(Tmpd, TakesNegativeRowSumsForPositive) {
  const MethodTestbed bed(testbed_operators()[0]);
  const Tensor D = -initial_noise(bed);
  const Tensor x = run_with(Multiple(-0.5), bed, "tmpd:steps=1,sigma_max=2").images;
  const double variance = 0.01 + 4 * 0.5;
  expect_close(x, D - 4 * 0.5 / variance * bed.problem.A->format().measured(bed.problem.y - D));
}

TEST(Tmpd, RefusesMeasurementsWithoutNoise) {
  MethodTestbed bed(testbed_operators()[0]);
  bed.problem.sigma_y = scalar(0);
  EXPECT_THROW(bed.run("tmpd:steps=2"), Error);
}

// Three steps on the flow's own scale, t = 0.75, 0.5, 0.25, 0; with shift 4 from 12/13 on.
TEST(FlowDps, MixesDescentAndNoiseByTheTime) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    const double norm = at::linalg_matrix_norm(bed.A, 2).item<double>();
    const double step = 0.8 / (norm * norm);
    for (const double shift : {1.0, 4.0}) {
      auto run = bed.run(fmt::format(
          "flow_dps:steps=3,sigma_max={},gradient_steps=2,step=0.8,shift={}", 3 * shift, shift));
      const auto shifted = [&](double u) { return shift * u / (1 + (shift - 1) * u); };
      Tensor x = shifted(0.75) * run.noise;
      for (const auto& [from, to] :
           {std::pair{0.75, 0.5}, std::pair{0.5, 0.25}, std::pair{0.25, 0.}}) {
        const double t = shifted(from), next = shifted(to);
        const Tensor D = bed.D(x / (1 - t), t / (1 - t));
        const Tensor n1 = (x - (1 - t) * D) / t;
        Tensor u = D;
        for (int i = 0; i < 2; ++i)
          u = u - step * at::matmul(at::matmul(u, bed.A.t()) - bed.y, bed.A);
        const Tensor noise = std::sqrt(next) * n1 + std::sqrt(1 - next) * bed.draw(run.rng);
        x = (1 - next) * ((1 - t) * D + t * u) + next * noise;
      }
      expect_close(run.x, x, 1e-5);  // of the power iteration
      expect_cost(run.cost, {3 * 3, 0, 0});
    }
  }
}

// A denoiser that may be asked at quarters only.
class Coarse final : public Denoiser {
 public:
  Tensor mean(const Query& query) const override {
    EXPECT_EQ(std::fmod(query.sigma.item<double>(), 0.25), 0);
    return query.x / (1 + query.sigma.square());
  }
  Tensor levels(const Tensor& sigma) const override {
    return std::get<0>(at::unique_consecutive((4 * sigma - 1e-9).ceil() / 4));
  }
};

TEST(FlowDps, AsksTheDenoiserWhereItMayBeAsked) {
  const MethodTestbed bed(testbed_operators()[0]);
  // 3 2 1.25 0.75 0.5 0.25, where 0.5 stands for two.
  EXPECT_EQ(run_with(Coarse(), bed, "flow_dps:steps=7,sigma_max=3,shift=1").cost.evaluations,
            6 * 3);
}

// Alone, with a measurement that serves two images. Measurements have 4, 5 and 2 dimensions.
TEST(GuidedMethods, TreatEachImageAlone) {
  for (const std::string name : {"dps", "pigdm", "mpgd", "mmps", "tmpd", "flow_dps"})
    for (const std::string spec : {"inpaint_box", "fourier_lines", "matrix:rows=6"}) {
      SCOPED_TRACE(name + " on " + spec);
      const std::string method = name + ":steps=20";
      MethodTestbed bed(spec);
      bed.problem.sigma_y = at::linspace(0.05, 0.2, 3, at::kDouble).reshape({3, 1, 1, 1});
      const Tensor together = bed.run(method).x;
      for (int64_t n = 0; n < 3; ++n) {
        Problem own = bed.problem;
        own.y = own.y.slice(0, n, n + 1);
        own.sigma_y = own.sigma_y[n].reshape({});
        Rng rng(21, std::vector<uint64_t>{static_cast<uint64_t>(n), 7});
        const Tensor alone =
            sample_posterior(choose_method(method), bed.prior, own, {2, 1, 4, 4}, rng).images;
        expect_close(MethodTestbed::rows(alone)[0], together[n], 1e-8);
      }
    }
}

}  // namespace
}  // namespace eps
