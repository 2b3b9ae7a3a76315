// Methods that project onto the measurement, against their formulas with dense matrices.
#include <cmath>

#include "eps/operators/factories.h"
#include "tests/methods/projection_testbed.h"

namespace eps {
namespace {

// The problem without noise.
void remove_noise(MethodTestbed& bed) {
  Rng rng(13, bed.shape[0]);
  bed.problem = observe(bed.problem.A, bed.prior.sample(rng, bed.shape[0]), scalar(0), rng);
  bed.y = MethodTestbed::rows(bed.problem.A->format().measured(bed.problem.y));
  bed.sigma_y = 0;
}

TEST(Ddnm, ReplacesAFractionOfTheRangeSpace) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    auto run = bed.run(with_levels("ddnm:eta=0.6"));
    Tensor x = 2 * run.noise;
    for (const auto& [s, next] : kSteps) {
      const Tensor D = bed.D(x, s), n = (x - D) / s;
      const Tensor x0 = D + s * s / (s * s + 0.01) * regularised_inverse(bed, misfit(bed, D), 0);
      x = x0 + next * (0.8 * n + 0.6 * bed.draw(run.rng));
    }
    expect_close(run.x, x);
    EXPECT_EQ(run.cost.evaluations, 3 * 3);
    EXPECT_EQ(run.cost.vjps, 0);
    EXPECT_EQ(run.cost.solves, 3 * 3);
  }
}

TEST(Ddnm, RegularisesTheInverseWithTheWienerRule) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    auto run = bed.run(with_levels("ddnm:rule=wiener,epsilon=0.02,convention=ancestral"));
    Tensor x = 2 * run.noise;
    for (const auto& [s, next] : kSteps) {
      const Tensor D = bed.D(x, s), n = (x - D) / s;
      const double fresh = 0.85 * next * std::sqrt(1 - next * next / (s * s));
      const double lambda = s * s / (s * s + 0.01);
      x = D + lambda * regularised_inverse(bed, misfit(bed, D), 0.02) +
          std::sqrt(next * next - fresh * fresh) * n + fresh * bed.draw(run.rng);
    }
    expect_close(run.x, x);
    EXPECT_EQ(run.cost.solves, 3 * 3);
  }
}

TEST(Ddnm, UsesTheWienerRuleForBlursAndTheScalarOneOtherwise) {
  const auto rule = [](const char* task) {
    return choose_method("ddnm", task).options.text("rule");
  };
  EXPECT_EQ(rule("gaussian_deblurring"), "wiener");
  EXPECT_EQ(rule("motion_deblurring"), "wiener");
  EXPECT_EQ(rule("blur_gaussian:std=1,size=5"), "wiener");
  EXPECT_EQ(rule("blur_kernel:file=k.npy"), "wiener");
  EXPECT_EQ(rule("blur_motion:length=5 | inpaint_random"), "wiener");
  EXPECT_EQ(rule("super_resolution_4x"), "scalar");
  EXPECT_EQ(rule("inpaint_box"), "scalar");
}

TEST(Diffpir, RenewsAsMuchNoiseAsItsAuthorsDoForEachKind) {
  const auto zeta = [](const char* task) {
    return choose_method("diffpir", task).options.real("zeta");
  };
  EXPECT_EQ(zeta("random_inpainting"), 1);
  EXPECT_EQ(zeta("box_inpainting"), 1);
  EXPECT_EQ(zeta("super_resolution_16x"), 0.25);
  EXPECT_EQ(zeta("gaussian_deblurring"), 0.1);
  EXPECT_EQ(zeta("motion_deblurring"), 0.1);
}

TEST(Diffpir, TakesTheNoiseFromTheProximalPoint) {
  for (const auto& spec : testbed_operators()) {
    SCOPED_TRACE(spec);
    const MethodTestbed bed(spec);
    for (const bool skip_last : {true, false}) {
      auto run = bed.run(with_levels(std::string("diffpir:lambda=3,zeta=0.36,skip_last=") +
                                     (skip_last ? "1" : "0")));
      Tensor x = 2 * run.noise;
      for (const auto& [s, next] : kSteps) {
        const Tensor D = bed.D(x, s);
        // (A'A + rho) x0 = A'y + rho D
        const double rho = 3 * 0.01 / (s * s);
        const Tensor solved =
            at::matmul(at::matmul(bed.y, bed.A) + rho * D,
                       at::linalg_inv(at::matmul(bed.A.t(), bed.A) + rho * bed.I));
        if (next == 0) {
          x = skip_last ? D : solved;
        } else {
          x = solved + next * (0.8 * (x - solved) / s + 0.6 * bed.draw(run.rng));
        }
      }
      expect_close(run.x, x);
      EXPECT_EQ(run.cost.evaluations, 3 * 3);
      EXPECT_EQ(run.cost.vjps, 0);
      EXPECT_EQ(run.cost.solves, (skip_last ? 2 : 3) * 3);
    }
  }
}

// Six levels in stretches of two, counted from the lowest: 5 -> 3 -> 1, each walked three times,
// and the highest level left over.
TEST(Repaint, WalksEachStretchAsOftenAsResamplesSays) {
  const MethodTestbed bed("inpaint_random:missing=0.5");
  auto run = bed.run("repaint:steps=6,sigma_max=6,sigma_min=1,rho=1,jump=2,resamples=3");
  const std::vector<double> level = {6, 5, 4, 3, 2, 1, 0};
  const std::vector<size_t> visits = {0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 6};
  const Tensor known = at::matmul(bed.A.t(), bed.A).diagonal();
  Tensor x = 6 * run.noise;
  int64_t evaluations = 0;
  for (size_t k = 0; k + 1 < visits.size(); ++k) {
    const double s = level[visits[k]], next = level[visits[k + 1]];
    if (next > s) {
      x = x + std::sqrt(next * next - s * s) * bed.draw(run.rng);
      continue;
    }
    ++evaluations;
    const Tensor D = bed.D(x, s);
    const double fresh = next * std::sqrt(1 - next * next / (s * s));
    const Tensor unknown =
        D + std::sqrt(next * next - fresh * fresh) * (x - D) / s + fresh * bed.draw(run.rng);
    x = known * (at::matmul(bed.y, bed.A) + next * bed.draw(run.rng)) + (1 - known) * unknown;
  }
  expect_close(run.x, x);
  EXPECT_EQ(evaluations, 14);
  EXPECT_EQ(run.cost.evaluations, 14 * 3);
  EXPECT_EQ(run.cost.vjps, 0);
  EXPECT_EQ(run.cost.solves, 0);
}

// Stretches end 0, 10, ..., 230 levels above the lowest: 24 of them, 9 times 10 steps more in each.
TEST(Repaint, CountsThePublishedEvaluations) {
  EXPECT_EQ(measured_cost(choose_method("repaint")).evaluations, 250 + 24 * 9 * 10);
  EXPECT_EQ(measured_cost(choose_method("repaint:resamples=1")).evaluations, 250);
  // One stretch, from the second level to the lowest: the first is left over.
  EXPECT_EQ(measured_cost(choose_method("repaint:steps=4,jump=2,resamples=2")).evaluations, 4 + 2);
  // A stretch that does not fit between the highest and the lowest.
  EXPECT_EQ(measured_cost(choose_method("repaint:steps=4,jump=4,resamples=2")).evaluations, 4);
}

// Weighs each pixel by 1/2.
class Dimming final : public LinearOperator, public Spectral {
 public:
  Tensor apply(const Tensor& x) const override { return x / 2; }
  Tensor adjoint(const Tensor& y) const override { return y / 2; }
  const Spectral* spectral() const override { return this; }
  Basis basis() const override { return Basis::pixel; }
  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return x * f(at::full_like(x, 0.25));
  }
};

std::string error_of(const MethodTestbed& bed, const std::string& method) {
  try {
    bed.run(method);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Repaint, WantsAnOperatorThatKeepsOrDropsPixels) {
  const std::string wanted =
      "repaint: needs an operator that keeps or drops pixels (inpaint_...), and ";
  const MethodTestbed blur("blur_gaussian:std=0.6,size=3");
  EXPECT_EQ(error_of(blur, "repaint:steps=2"), wanted + "A'A of this one is not diagonal in them");
  MethodTestbed dimmed("inpaint_random:missing=0.5");
  dimmed.problem.A = std::make_shared<Dimming>();
  EXPECT_EQ(error_of(dimmed, "repaint:steps=2"),
            wanted + "this one weighs them: A'A has eigenvalues other than 0 and 1");
}

TEST(ProjectionMethods, SayWhenTheOperatorHasNoBasis) {
  const MethodTestbed bed("blur_gaussian:std=0.6,size=3 | inpaint_random:missing=0.5");
  const std::string wanted =
      "needs an operator whose A'A is diagonal in a fast basis; this one's is not";
  EXPECT_EQ(error_of(bed, "ddrm"), "ddrm: " + wanted);
  EXPECT_EQ(error_of(bed, "ddnm:rule=singular"), "ddnm: rule=singular " + wanted);
  EXPECT_EQ(error_of(bed, "ddnm:rule=both"), "ddnm: rule=both is none of scalar, wiener, singular");
  EXPECT_EQ(error_of(bed, "ddnm:convention=c1"),
            "ddnm: convention=c1 is neither ancestral nor renoise");
}

// Without noise the data step is a projection, and it comes last.
TEST(ProjectionMethods, EndInTheMeasurementIfItHasNoNoise) {
  for (const auto& spec : testbed_operators()) {
    MethodTestbed bed(spec);
    remove_noise(bed);
    for (const std::string method :
         {"ddnm", "ddnm:rule=singular", "ddrm", "diffpir:skip_last=0", "repaint:steps=30"}) {
      if (!applies(method, *bed.problem.A)) continue;
      SCOPED_TRACE(method + " " + spec);
      const auto run = bed.run(method);
      expect_close(at::matmul(run.x, bed.A.t()), bed.y);
    }
  }
}

// With every method's own steps and the task's values: not exact, but about as far from the
// posterior mean, and from y, as the posterior is. (Samples of the prior are 5 sigma_y from y.)
TEST(ProjectionMethods, ComeNearThePosteriorWithTheirDefaults) {
  const std::vector<std::string> tasks = {
      "random_inpainting", "super_resolution_4x", "gaussian_deblurring"};
  for (size_t i = 0; i < tasks.size(); ++i) {
    const MethodTestbed bed(testbed_operators()[i]);
    const Tensor precision =
        at::linalg_inv(bed.C) + at::matmul(bed.A.t(), bed.A) / (bed.sigma_y * bed.sigma_y);
    const Tensor P = at::linalg_inv(precision);
    const Tensor pulled = at::matmul(misfit(bed, bed.m.unsqueeze(0)), bed.A);
    const Tensor mean = bed.m + at::matmul(pulled, P) / (bed.sigma_y * bed.sigma_y);
    const double spread = std::sqrt(P.trace().item<double>() / 16);
    const auto rms = [](const Tensor& rows) { return rows.square().mean().sqrt().item<double>(); };
    for (const std::string method : {"ddnm", "ddnm:rule=singular", "ddrm", "diffpir", "repaint"}) {
      if (!applies(method, *bed.problem.A)) continue;
      SCOPED_TRACE(method + " " + tasks[i]);
      const Tensor x = bed.run(method, tasks[i]).x;
      EXPECT_LT(rms(x - mean), 2 * spread);
      EXPECT_LT(rms(misfit(bed, x)), 2.5 * bed.sigma_y);
    }
  }
}

// One problem of a batch, drawn by itself with the stream of its image.
Tensor drawn_alone(const std::string& method, const Mixture& prior, const Problem& all, int64_t i) {
  const auto own = [i](const Tensor& batch) { return batch.slice(0, i, i + 1); };
  const auto parameters = all.A->format().parameters();
  const Operator A = parameters.count("mask") ? inpainting(own(parameters.at("mask")).unsqueeze(1))
                                              : circular_blur(own(parameters.at("kernel")), 4, 4);
  Rng rng(21, std::vector<uint64_t>{static_cast<uint64_t>(i)});
  const Problem problem{A, own(all.y), own(all.sigma_y), {}};
  return sample_posterior(choose_method(method), prior, problem, {1, 1, 4, 4}, rng).images;
}

TEST(ProjectionMethods, TreatEachImageOfABatchByItself) {
  const Mixture prior = example_mixture({1, 4, 4}, 1, 3);
  const Shape shape{3, 1, 4, 4};
  for (const char* spec : {"inpaint_random:missing=0.5", "blur_gaussian:std=0.4..0.9,size=3"}) {
    Rng rng(15, 3);
    const Operator A = make_operator(spec, at::empty(shape, at::kDouble), rng);
    ASSERT_EQ(A->format().batch(), 3);
    const Tensor sigma_y = at::tensor({0.0, 0.1, 0.5}, at::kDouble).reshape({3, 1, 1, 1});
    const Problem problem = observe(A, prior.sample(rng, 3), sigma_y, rng);
    for (const char* name :
         {"ddnm", "ddnm:rule=wiener", "ddnm:rule=singular", "ddrm", "diffpir", "repaint"}) {
      if (!applies(name, *A)) continue;
      SCOPED_TRACE(std::string(name) + " " + spec);
      const std::string method = with_levels(name);
      Rng streams(21, 3);
      const Tensor together =
          sample_posterior(choose_method(method), prior, problem, shape, streams).images;
      for (int64_t i = 0; i < 3; ++i)
        expect_close(together.slice(0, i, i + 1), drawn_alone(method, prior, problem, i), 1e-12);
    }
  }
}

// y of batch 1 is the same as y repeated.
TEST(ProjectionMethods, DrawManySamplesOfOnePosterior) {
  for (const auto& spec : operators_with_basis()) {
    MethodTestbed bed(spec);
    const Tensor one = bed.problem.y.slice(0, 0, 1);
    for (const char* name : {"ddnm", "ddnm:rule=singular", "ddrm", "diffpir", "repaint"}) {
      if (!applies(name, *bed.problem.A)) continue;
      SCOPED_TRACE(std::string(name) + " " + spec);
      bed.problem.y = one;
      const Tensor x = bed.run(with_levels(name)).x;
      bed.problem.y = one.expand_as(at::cat({one, one, one})).contiguous();
      expect_close(x, bed.run(with_levels(name)).x, 1e-12);
      EXPECT_GT((x[0] - x[1]).abs().max().item<double>(), 1e-3);
    }
  }
}

TEST(Repaint, KeepsNoisyPixelsAsTheyAre) {
  const MethodTestbed bed("inpaint_random:missing=0.5");
  expect_close(at::matmul(bed.run("repaint:steps=30").x, bed.A.t()), bed.y, 1e-15);
}

}  // namespace
}  // namespace eps
