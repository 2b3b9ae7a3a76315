// A kernel that is not its own mirror image, tried flipped as well.
#include "eps/restore/kernel_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "eps/restore/noise_level.h"

namespace eps {

int64_t TrialSampler::samples_for(const Problem& problem) {
  return problem.y.numel() > kManyMeasurements ? 1 : 2;
}

Restoration TrialSampler::restored(const MethodChoice& method,
                                   const Problem& problem,
                                   double sigma_y) const {
  Problem one = whitening.W ? whitening.of(problem) : problem;
  one.sigma_y = scalar(sigma_y);
  RestorationOptions few = options;
  few.samples = samples_for(problem);
  return restore(method, denoiser, one, few);
}

double TrialSampler::chi2(const Problem& problem, double sigma_y) const {
  return restored(choice.with("steps", kSteps), problem, sigma_y).chi2;
}

Restoration TrialSampler::restored(const Problem& problem) const {
  return restored(choice, problem, problem.sigma_y.item<double>());
}

std::optional<KernelTrial> try_kernel(const TrialSampler& sampler,
                                      const Problem& problem,
                                      const std::optional<Problem>& flipped,
                                      double most,
                                      const ResidualTests& residual,
                                      const ResidualSetting& setting,
                                      const std::function<void(int64_t)>& start_stage) {
  constexpr double kFewest = 1000;  // measurements
  if (!flipped || problem.measurements().item<double>() < kFewest) return {};
  KernelTrial trial{.sigma_y = std::max(most, problem.sigma_y.item<double>())};
  const int64_t samples = TrialSampler::samples_for(problem);
  start_stage(2 * samples * TrialSampler::kSteps);
  trial.given = sampler.chi2(problem, trial.sigma_y);
  trial.flipped = sampler.chi2(*flipped, trial.sigma_y);
  if (!trial.is_flipped() || !residual.any_found()) return trial;
  start_stage(measured_cost(sampler.choice).evaluations * samples);
  trial.refuted = test_residuals(*flipped, sampler.restored(*flipped).samples, setting).any_found();
  return trial;
}

std::string kernel_words(const std::optional<KernelTrial>& trial, bool is_flipped) {
  const std::string taken =
      is_flipped ? "turned by 180 degrees, then convolved"
                 : "convolved as it is; flip it if the program that made the measurement "
                   "correlates (cv2, torch)";
  if (!trial) return taken;
  const auto numbers = [&](const char* verdict) {
    return fmt::format("{} (chi2 at a noise of {:.3g}: {:.4g}, flipped {:.4g})",
                       verdict,
                       trial->sigma_y,
                       trial->given,
                       trial->flipped);
  };
  if (trial->refuted) return taken + numbers("; neither this nor flipped it fits");
  if (trial->is_flipped()) return taken + numbers("; flipped it fits better");
  return taken + numbers(trial->is_given() ? "; flipped it fits less well"
                                           : "; flipped it fits as well, so this is not known");
}

}  // namespace eps
