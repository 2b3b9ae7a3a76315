// What the samples of a restoration say of its operator.
#include "eps/restore/judgement.h"

#include <algorithm>

#include "eps/restore/operator_findings.h"
#include "eps/restore/rehearsal.h"
#include "eps/restore/training_range.h"

namespace eps {
namespace {

constexpr int64_t kTestedPixels = 4000000;  // of residuals, over samples

// Returns the source of noise like that of the request's measurement.
NoiseSource noise_source(const RestorationRequest& request,
                         const Measurement& measurement,
                         const Tensor& sigma_y) {
  return [&request, &measurement, sigma_y](const Tensor& clean, Rng& rng) {
    if (request.noise.is_white())
      return sigma_y.to(clean.options()) * rng.normal(clean.sizes().vec(), clean.options());
    const Tensor stored = measurement.offset.defined() ? clean + measurement.offset : clean;
    return draw_noise(
        request.noise, stored, request.sigma_y.value_or(kSimulatedNoise), rng, measurement.cut);
  };
}

}  // namespace

void judge(const RestorationRequest& request,
           const TrialSampler& sampler,
           const Problem& problem,
           const OperatorChoice& chosen,
           const Checkpoint& network,
           const Tensor& samples,
           RestorationResult& result) {
  RestorationReport& report = result.report;
  const ResidualSetting setting{
      .whitening = sampler.whitening, .border = chosen.border, .offset = result.measurement.offset};
  const auto start_stage = [&](const std::string& name, int64_t evaluations) {
    if (request.on_stage) request.on_stage(name, evaluations);
  };
  // The residual of one sample of many pixels has all that the tests need.
  const int64_t pixels = samples.size(2) * samples.size(3);
  const int64_t tested = std::clamp<int64_t>(kTestedPixels / pixels, 1, samples.size(0));
  report.residual = test_residuals(problem, samples.slice(0, 0, tested), setting);
  const auto flipped = with_flipped_kernel(problem, chosen.border);
  const bool suspect = !report.misfit.empty() || report.residual.any_found();
  if (!report.approximate && suspect) {
    start_stage("evaluations for a rehearsal",
                measured_cost(sampler.choice).evaluations * TrialSampler::samples_for(problem));
    add_rehearsal(report,
                  rehearse(sampler,
                           problem,
                           samples.slice(0, 0, 1),
                           noise_source(request, result.measurement, problem.sigma_y),
                           setting));
  }
  if (!report.approximate) {
    const double most = std::min(trained_noise(network.provenance).high, 0.2) /
                        noise_factor(problem, sampler.options.channels);
    report.kernel_trial = try_kernel(
        sampler, problem, flipped, most, report.residual, setting, [&](int64_t evaluations) {
          start_stage("evaluations for a flipped kernel", evaluations);
        });
    const auto findings = operator_findings(
        report.residual, report.kernel_trial, report.operator_spec, chosen.border);
    report.findings.insert(report.findings.begin(), findings.begin(), findings.end());
  }
  if (flipped)
    report.kernel = kernel_words(report.kernel_trial, request.operator_options.flip_kernel);
}

}  // namespace eps
