// The distance of each method from the posterior.
#include "eps/verify/verify_methods.h"

#include <cmath>

#include "eps/base/ordered_jobs.h"
#include "eps/math/statistics.h"
#include "eps/methods/method.h"
#include "eps/operators/task.h"
#include "eps/priors/mixture.h"
#include "eps/verify/bounds.h"

namespace eps {
namespace {

bool is_mask(const LinearOperator& A) {
  return A.spectral() && A.spectral()->basis() == Basis::pixel;
}

enum class Exact { never, isotropic, gaussian, always };

// The chain is fine enough for its error to be below that of the samples.
const std::string kFineChain = "steps=200,sigma_max=10,sigma_min=0.002";

// A `Subject` is a method with its options; others are its defaults for the kind of the operator.
struct Subject {
  std::string method;
  Exact exact;
  int64_t samples = 1000;
  bool masks_only = false;
  // The step size that multiplies a vector of fixed length: the paper's, which is for 3 x 64 x 64
  // images, times the ratio of the norms of noise, 4 to 111.
  std::string scaled = {};
};
constexpr double kNormRatio = 4 / 110.85;

MethodChoice choice_of(const Subject& subject, const std::string& operator_spec) {
  const MethodChoice choice = choose_method(subject.method, operator_spec);
  if (subject.scaled.empty()) return choice;
  return choice.with(subject.scaled, kNormRatio * choice.options.real(subject.scaled));
}
// Returns the method as the table names it.
std::string name_of(const Subject& subject) {
  return subject.method + (subject.scaled.empty() ? "" : ":" + subject.scaled + " x 4/111");
}

const std::vector<Subject>& method_subjects() {
  static const std::vector<Subject> all = {
      {"eps", Exact::always},
      {"eps:solver=euler,rho=7,sigma_min=0.002,last=mean,steps=100", Exact::never},
      {"eps:solver=euler,rho=7,sigma_min=0.002,last=mean", Exact::never},
      {"zero_shot_pivot", Exact::never},
      {"equivalent_time", Exact::isotropic},
      {"mmps:iterations=16", Exact::gaussian},
      {"mmps:iterations=1", Exact::never},
      {"tmpd", Exact::never},
      {"pigdm", Exact::never},
      {"dps", Exact::never, 1000, false, "scale"},
      {"mpgd", Exact::never, 1000, false, "zeta"},
      {"ddnm", Exact::never},
      {"ddnm:rule=singular", Exact::never},
      {"ddrm", Exact::never},
      {"diffpir", Exact::never},
      {"repaint", Exact::never, 1000, /*masks_only=*/true},
      {"flow_dps", Exact::never},
      {"daps:chain=law", Exact::never},
      {"score_als", Exact::never},
      {"red_diff", Exact::never},
      {"unconditional", Exact::never},
      {"tds:particles=64," + kFineChain, Exact::always, 300},
      {"fps_smc:noise=diffused,particles=128," + kFineChain, Exact::always, 300},
      {"tds", Exact::never, 300},
      {"fps_smc", Exact::never, 300},
  };
  return all;
}

bool is_exact(Exact exact, const std::string& prior, const std::string& operator_spec) {
  switch (exact) {
    case Exact::never:
      return false;
    case Exact::isotropic:
      return operator_spec == "identity";
    case Exact::gaussian:
      return prior == "gaussian";
    case Exact::always:
      return true;
  }
  fail("verify_methods: unknown claim");
}

MethodRow judge(const Subject& subject,
                const std::string& prior_name,
                const std::string& operator_spec,
                int64_t count,
                uint64_t seed) {
  const Shape image{1, 1, 4, 4};
  const Mixture prior = example_mixture({1, 4, 4}, prior_name == "gaussian" ? 1 : 2, seed);
  Rng rng(seed);
  const Operator A = make_operator(operator_spec, at::empty(image, at::kDouble), rng);
  const Problem problem = observe(A, prior.sample(rng, 1), scalar(kVerifySigmaY), rng);
  MethodRow row{.prior = prior_name,
                .operator_spec = operator_spec,
                .method = name_of(subject),
                .samples = count,
                .refusal = {},
                .mean_error = 0,
                .mean_floor = 0,
                .covariance_error = 0,
                .covariance_floor = 0,
                .mean_z = 0,
                .covariance_z = 0,
                .evaluations = 0,
                .vjps = 0,
                .solves = 0,
                .may_refuse = subject.masks_only && !is_mask(*A),
                .exact = is_exact(subject.exact, prior_name, operator_spec)};
  Samples samples;
  try {
    Rng streams(seed + 1, count);
    samples = sample_posterior(
        choice_of(subject, operator_spec), prior, problem, {count, 1, 4, 4}, streams);
  } catch (const Error& error) {
    row.refusal = error.what();
    return row;
  }
  const Mixture posterior = prior.posterior(problem);
  const Tensor mean = posterior.mean().flatten(), covariance = posterior.covariance();
  const Tensor x = samples.images.flatten(1), centred = x - x.mean(0);
  const auto n = static_cast<double>(count);
  const Tensor sample_covariance = at::matmul(centred.t(), centred) / (n - 1);
  const double trace = covariance.trace().item<double>();
  const double norm = covariance.norm().item<double>();
  row.mean_error = (x.mean(0) - mean).norm().item<double>() / std::sqrt(trace);
  row.mean_floor = 1 / std::sqrt(n);
  row.covariance_error = (sample_covariance - covariance).norm().item<double>() / norm;
  // E|S - C|^2 = (tr(C)^2 + |C|^2) / (n - 1) for the covariance S of n normal samples.
  row.covariance_floor = std::sqrt((trace * trace / (norm * norm) + 1) / (n - 1));
  const MomentTest test = test_moments(samples.images, posterior.mean(), covariance);
  row.mean_z = test.mean_z;
  row.covariance_z = test.covariance_z;
  row.evaluations = static_cast<double>(samples.cost.evaluations) / n;
  row.vjps = static_cast<double>(samples.cost.vjps) / n;
  row.solves = static_cast<double>(samples.cost.solves) / n;
  return row;
}

}  // namespace

const std::vector<std::string>& verify_methods_operators() {
  // The operators are a mask, a blur, and one with A'A = I.
  static const std::vector<std::string> specs = {
      "inpaint_random:missing=0.5", "blur_gaussian:std=0.75,size=3", "identity"};
  return specs;
}

bool MethodRow::at_floor() const {
  return std::abs(mean_z) <= kVerifyStandardErrors &&
         std::abs(covariance_z) <= kVerifyStandardErrors;
}

std::vector<MethodRow> verify_methods(uint64_t seed, bool quick, const OnRow<MethodRow>& report) {
  std::vector<std::function<void(const OnRow<MethodRow>&)>> jobs;
  for (const std::string prior : {"gaussian", "mixture"})
    for (const Subject& subject : method_subjects())
      for (const auto& spec : verify_methods_operators()) {
        if (quick && spec != verify_methods_operators()[0]) continue;
        const int64_t count = quick ? subject.samples / 4 : subject.samples;
        jobs.push_back([=, &subject](const OnRow<MethodRow>& row) {
          row(judge(subject, prior, spec, count, seed));
        });
      }
  return run_in_order<MethodRow>(jobs, report);
}

std::vector<std::string> broken_claims(const std::vector<MethodRow>& rows) {
  std::vector<std::string> broken;
  std::map<std::string, bool> seen_off;  // methods that are not always exact: off the floor once?
  for (const MethodRow& row : rows) {
    const std::string where = row.method + " (" + row.prior + " prior, " + row.operator_spec + ")";
    if (!row.refusal.empty()) {
      if (!row.may_refuse) broken.push_back(where + ": " + row.refusal);
      continue;
    }
    if (row.exact && !row.at_floor()) broken.push_back(where + ": off the sampling error");
    if (!row.exact) {
      bool& off = seen_off[row.method];
      off = off || !row.at_floor();
    }
  }
  for (const auto& [method, off] : seen_off)
    if (!off) broken.push_back(method + ": at the sampling error wherever it should be biased");
  return broken;
}

}  // namespace eps
