// The claims of `eps verify`, each by closed form or by a simulation with a computed standard
// error.
#include "eps/verify/verify.h"

#include <cmath>

#include "eps/base/ordered_jobs.h"
#include "eps/diffusion/sampler.h"
#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"
#include "eps/operators/whitened.h"
#include "eps/priors/dense.h"
#include "eps/priors/stationary.h"
#include "eps/verify/bounds.h"
#include "eps/verify/contract.h"
#include "eps/verify/tiles.h"

namespace eps {
namespace {

using Rows = OnRow<VerifyRow>;

// Returns every registered operator once; operators that read a file get a parameter of the same
// kind from memory.
std::vector<std::pair<std::string, Draw>> subjects() {
  std::vector<std::pair<std::string, Draw>> all;
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) all.emplace_back(entry.example, parse_operator(entry.example));
  all.emplace_back("inpaint_mask:file=(mask)", [](const Tensor& like, Rng& rng) {
    return inpainting(rng.uniform({1, 1, like.size(2), like.size(3)}) < 0.4);
  });
  all.emplace_back("soft_mask:file=(weights)", [](const Tensor& like, Rng& rng) {
    return soft_mask(rng.uniform({1, 1, like.size(2), like.size(3)}));
  });
  all.emplace_back("blur_kernel:file=(4 x 5 kernel)", [](const Tensor& like, Rng& rng) {
    const Tensor kernel = rng.uniform({1, 4, 5});
    return circular_blur(kernel / kernel.sum(), like.size(2), like.size(3));
  });
  all.emplace_back("fourier_mask:file=(mask)", [](const Tensor& like, Rng& rng) {
    return subsampled_fourier(rng.uniform({1, like.size(2), like.size(3)}) < 0.4);
  });
  all.emplace_back("mix:file=(2 x C matrix)", [](const Tensor& like, Rng& rng) {
    return mix(rng.normal({2, like.size(1)}));
  });
  all.emplace_back("matrix:file=(sparse)", [](const Tensor& like, Rng& rng) {
    // Each of 40 measurements is the sum of 5 random values of the image.
    const int64_t columns = like.size(1) * like.size(2) * like.size(3);
    const Tensor column = (rng.uniform({200}) * static_cast<double>(columns)).to(at::kLong);
    const SparseMatrix matrix(
        40, columns, at::arange(200).div(5, "floor"), column, rng.normal({200}));
    return sparse_matrix(matrix, like.sizes().vec(), {40});
  });
  all.emplace_back("blur_gaussian:noise=(map)", [](const Tensor& like, Rng& rng) {
    const Operator blur = make_operator("blur_gaussian:std=0.6,size=5", like, rng);
    const Problem problem = {blur, at::zeros_like(like, at::kDouble)};
    return whiten(problem, 0.02 + 0.1 * rng.uniform({1, 1, like.size(2), like.size(3)})).A;
  });
  for (const std::string spec : {"blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5",
                                 "blur_motion:length=3,angle=30,border=valid",
                                 "blur_motion:length=3,angle=30,border=replicate",
                                 "downscale:factor=1.6,filter=lanczos",
                                 "blur_gaussian:std=0.6,size=3,border=valid",
                                 "downscale:factor=2,filter=bicubic,antialias=0",
                                 "blur_gaussian:std=0.8,size=5 | soft_mask:smooth=2",
                                 "super_resolution:factor=4 + inpaint_random:missing=0.8"})
    all.emplace_back(spec, parse_operator(spec));
  return all;
}

MomentTest posterior_moments(const Problem& problem,
                             const Mixture& prior,
                             const Schedule& schedule,
                             const SamplerOptions& options,
                             const Shape& image,
                             int64_t count,
                             uint64_t seed) {
  Rng rng(seed, count);
  const Shape shape{count, image[1], image[2], image[3]};
  const Tensor samples =
      sample(posterior_mean(prior, problem, schedule), schedule, shape, options, rng);
  const Mixture posterior = prior.posterior(problem);
  return test_moments(samples, posterior.mean(), posterior.covariance());
}

// A `WhitePrior` is the exact denoiser of images N(0, kVariance I), by the function c_skip of A'A:
// the path that a network's scales take.
class WhitePrior final : public Denoiser {
 public:
  static constexpr double kVariance = 0.25;
  Tensor mean(const Query& query) const override {
    return query.A->functions().filter(query.x, [&](const Tensor& e) {
      const Tensor v = pivot_variance(
          e, per_sample(query.sigma.square(), e), per_sample(query.sigma_y.square(), e));
      return kVariance / (v + kVariance);
    });
  }
};

// Tests samples under a white Gaussian prior, whose posterior is N(C A'y/sigma_y^2, C) with
// C = (I/variance + A'A/sigma_y^2)^{-1}.
void verify_functions(const std::string& spec,
                      const Draw& draw,
                      uint64_t seed,
                      const Rows& report) {
  const Shape image{1, channels_of(spec, mixes_channels(spec) ? 3 : 1), 8, 8};
  Rng rng(seed);
  const Operator A = draw(at::empty(image, at::kDouble), rng);
  if (A->spectral()) return;  // exact in its basis
  const Tensor x0 = std::sqrt(WhitePrior::kVariance) * rng.normal(image);
  const Problem problem = observe(A, x0, scalar(kVerifySigmaY), rng);
  const Tensor matrix =
      matrix_of([&](const Tensor& x) { return A->apply(x).flatten(1); }, image, 1, at::kDouble)[0];
  const double precision = 1 / (kVerifySigmaY * kVerifySigmaY);
  const Tensor covariance =
      at::linalg_inv(at::eye(matrix.size(1), at::kDouble) / WhitePrior::kVariance +
                     precision * at::matmul(matrix.t(), matrix));
  const Tensor back = at::matmul(matrix.t(), problem.y.flatten().unsqueeze(1));
  SamplerOptions options;
  options.solver = "heun";
  options.grid = {.kind = "log_sigma", .steps = 36, .sigma_min = 0.001, .sigma_max = 100};
  constexpr int64_t kCount = 250;
  Rng streams(seed + 1, kCount);
  const WhitePrior prior;
  const Tensor samples = sample(posterior_mean(prior, problem, edm()),
                                edm(),
                                {kCount, image[1], image[2], image[3]},
                                options,
                                streams);
  const MomentTest found =
      test_moments(samples, precision * at::matmul(covariance, back).flatten(), covariance);
  report({"functions", spec, "post mean", found.mean_z, kVerifyStandardErrors});
  report({"functions", spec, "post cov", found.covariance_z, kVerifyStandardErrors});
}

void verify_operator(const std::string& spec, const Draw& draw, uint64_t seed, const Rows& report) {
  const Shape image{1, channels_of(spec, mixes_channels(spec) ? 3 : 1), 8, 8};
  Rng rng(seed);
  const Operator A = draw(at::empty(image, at::kDouble), rng);
  const auto row = [&](const char* claim, double value, double bound) {
    report({"operators", spec, claim, value, bound});
  };

  row("adjoint", adjoint_error(*A, image, rng), 1e-10);
  row("ridge", ridge_against_cg(*A, image, 1e-3, rng), 1e-6);
  const MomentTest law = pivot_law(A, image, 1.0, 20000, rng);
  row("law mean", law.mean_z, kVerifyStandardErrors);
  row("law cov", law.covariance_z, kVerifyStandardErrors);
  const Mixture prior = example_mixture({image[1], 8, 8}, 2, seed);
  row("score", score_error(A, prior, image, edm().at(scalar(0.5)), rng), 1e-5);
  row("limit", limit_error(A, image, rng), 1e-5);

  const Problem problem = observe(A, prior.sample(rng, 1), scalar(kVerifySigmaY), rng);
  SamplerOptions options;
  options.solver = "heun";
  options.grid = {.kind = "log_sigma", .steps = 70, .sigma_min = 0.002, .sigma_max = 300};
  const MomentTest posterior =
      posterior_moments(problem, prior, edm(), options, image, 1000, seed + 1);
  row("post mean", posterior.mean_z, kVerifyStandardErrors);
  row("post cov", posterior.covariance_z, kVerifyStandardErrors);
}

// Tests a solver on a schedule by 4 x 4 super-resolution of 8 x 8 images under a mixture.
void verify_sampler(const std::string& solver,
                    const std::string& schedule,
                    uint64_t seed,
                    const Rows& report) {
  const Shape image{1, 1, 8, 8};
  const Mixture prior = example_mixture({1, 8, 8}, 2, seed);
  Rng rng(seed);
  const Problem problem =
      observe(average_pool(4), prior.sample(rng, 1), scalar(kVerifySigmaY), rng);
  const std::map<std::string, int64_t> steps = {{"heun", 50}, {"dpmpp_2m", 50}, {"edm_churn", 100}};
  SamplerOptions options;
  options.solver = solver;
  // The renoise convention replaces a fixed share of the noise however small the step is, so it has
  // the right law only without fresh noise; its bias for eta > 0 is part of the methods that use
  // it.
  options.eta = solver == "ddim_ancestral" ? 0.5 : 0;
  options.churn.S_churn = 20;
  options.grid = {.kind = "log_sigma",
                  .steps = steps.count(solver) ? steps.at(solver) : 250,
                  .sigma_min = 0.002,
                  .sigma_max = 300};
  const MomentTest posterior =
      posterior_moments(problem, prior, *schedules().at(schedule), options, image, 1000, seed + 1);
  const std::string subject = solver + " on " + schedule;
  report({"samplers", subject, "post mean", posterior.mean_z, kVerifyStandardErrors});
  report({"samplers", subject, "post cov", posterior.covariance_z, kVerifyStandardErrors});
}

// Tests samples of 64 x 64 x 3 images under a stationary Gaussian prior, exact per frequency.
// Whitened by the posterior spectrum, samples must be white noise.
void verify_image(const std::string& spec, uint64_t seed, const Rows& report) {
  const int64_t count = 24, side = 64;
  const Stationary prior(at::full({3, 1, 1}, 0.1).expand({3, side, side}),
                         natural_spectrum(side, side));
  Rng rng(seed);
  const Operator A = make_operator(spec, at::empty({1, 3, side, side}, at::kDouble), rng);
  const Problem problem =
      observe(A, prior.sample(rng, {1, 3, side, side}), scalar(kVerifySigmaY), rng);
  const Stationary::Posterior posterior = prior.posterior(problem);
  SamplerOptions options;
  options.solver = "heun";
  options.grid = {.kind = "log_sigma", .steps = 100, .sigma_min = 0.002, .sigma_max = 300};
  Rng streams(seed + 1, count);
  const Tensor samples = sample(
      posterior_mean(prior, problem, edm()), edm(), {count, 3, side, side}, options, streams);
  const Tensor white = filter_spectrum(samples - posterior.mean, posterior.spectrum.rsqrt());
  // The noise is white in space, too, so 16 x 16 blocks serve as images, of which there are more.
  const Tensor blocks =
      white.reshape({-1, side / 16, 16, side / 16, 16}).transpose(2, 3).reshape({-1, 256});
  const double mean_z = test_whitened(white.flatten(1)).mean_z;
  const double covariance_z = test_whitened(blocks).covariance_z;
  const std::string subject = "64 x 64 x 3, " + spec;
  report({"images", subject, "post mean", mean_z, kVerifyStandardErrors});
  report({"images", subject, "post cov", covariance_z, kVerifyStandardErrors});
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& verify_claims() {
  static const std::vector<std::pair<std::string, std::string>> claims = {
      {"adjoint", "<A x, y> = <x, A'y>: relative error"},
      {"ridge",
       "(A'A + lambda I)^{-1} A'r against conjugate gradients or a dense matrix: relative error"},
      {"law mean", "Prop. 3: simulated pivots have mean x0; standard errors"},
      {"law cov", "Prop. 3: simulated pivots have covariance Sigma_star; standard errors"},
      {"score",
       "Thm. 1: posterior score against the numerical gradient of log p(x_t | y) of a mixture: "
       "relative error"},
      {"limit", "Obs. 4: the pivot tends to A^+ y + (I - A^+ A) x_t: relative error"},
      {"post mean",
       "samples with an exact prior against the closed-form posterior mean; standard errors"},
      {"post cov", "the same for the posterior covariance; standard errors"},
      {"seams",
       "samples of a local network evaluated tile by tile against those of the whole picture: "
       "relative error"},
  };
  return claims;
}

std::vector<VerifyRow> verify(uint64_t seed, const Rows& report) {
  std::vector<std::function<void(const Rows&)>> jobs;
  for (const auto& [spec, draw] : subjects())
    jobs.push_back(
        [=, spec = spec, draw = draw](const Rows& row) { verify_operator(spec, draw, seed, row); });
  for (const auto& [spec, draw] : subjects())
    jobs.push_back([=, spec = spec, draw = draw](const Rows& row) {
      verify_functions(spec, draw, seed, row);
    });
  for (const auto& solver : solvers())
    for (const auto& [name, schedule] : schedules())
      jobs.push_back(
          [=, name = name](const Rows& row) { verify_sampler(solver, name, seed, row); });
  for (const std::string spec : {"blur_gaussian:std=0.75,size=11",
                                 "blur_motion:length=15,angle=30",
                                 "fourier_lines:acceleration=4"})
    jobs.push_back([=](const Rows& row) { verify_image(spec, seed, row); });
  for (const std::string spec : {"inpaint_random:missing=0.7",
                                 "blur_gaussian:std=1.5,size=13,border=valid",
                                 "downscale:factor=2,filter=bicubic"})
    jobs.push_back([=](const Rows& row) {
      row({"tiles", "90 x 118 x 3, " + spec, "seams", tiles_error(spec, seed), 1e-5});
    });
  return run_in_order<VerifyRow>(jobs, report);
}

}  // namespace eps
