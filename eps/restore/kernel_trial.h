// A kernel that is not its own mirror image, tried flipped as well.
#pragma once

#include <functional>
#include <optional>

#include "eps/restore/noise_model.h"
#include "eps/restore/operator_findings.h"
#include "eps/restore/restoration.h"

namespace eps {

// A `TrialSampler` samples problems like that of a measurement, which are not whitened.
struct TrialSampler {
  const MethodChoice& choice;
  const Denoiser& denoiser;
  RestorationOptions options;
  Whitening whitening = {};

  // Returns the number of samples of a trial: one has enough of many measurements.
  static int64_t samples_for(const Problem& problem);
  // Returns the chi2 of a trial's samples of kSteps steps under another noise level.
  double chi2(const Problem& problem, double sigma_y) const;
  // Returns a trial's samples under the problem's own noise level.
  Restoration restored(const Problem& problem) const;

  static constexpr int64_t kSteps = 8;

 private:
  Restoration restored(const MethodChoice& method, const Problem& problem, double sigma_y) const;
};

// Returns the comparison of a kernel with its mirror image, where the two differ. most: the largest
// noise that the network knows. A border that is wrong can make either kernel look better: where
// the residual of the kernel's samples has structure, that of the flipped one's must have none.
// start_stage is called with the number of evaluations before they begin.
std::optional<KernelTrial> try_kernel(const TrialSampler& sampler,
                                      const Problem& problem,
                                      const std::optional<Problem>& flipped,
                                      double most,
                                      const ResidualTests& residual,
                                      const ResidualSetting& setting,
                                      const std::function<void(int64_t)>& start_stage);

// Returns how a kernel is taken that is not its own mirror image.
std::string kernel_words(const std::optional<KernelTrial>& trial, bool is_flipped);

}  // namespace eps
