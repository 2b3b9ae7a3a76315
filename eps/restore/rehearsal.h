// A restoration of a measurement that is known to fit: what a network leaves in the residual by
// itself.
#pragma once

#include <functional>

#include "eps/restore/kernel_trial.h"
#include "eps/restore/restoration_report.h"

namespace eps {

// A `Rehearsal` is the restoration of A x + noise for a sample x of the posterior. Operator and
// noise are right there, and the picture is alike: chi2 other than 1 and structure in the residual
// are the error of network and steps.
struct Rehearsal {
  double chi2 = 0;
  ResidualTests residual = {};

  // Returns whether samples with this chi2 fit as those of the rehearsal do.
  bool explains(double chi2, int64_t measurements) const;
};

// Returns the noise of a measurement without any.
using NoiseSource = std::function<Tensor(const Tensor& clean, Rng& rng)>;

// Rehearses with a sample (1, C, H, W) of the problem, which is not whitened. Seeds are others than
// those of the problem's own samples.
Rehearsal rehearse(const TrialSampler& sampler,
                   const Problem& problem,
                   const Tensor& sample,
                   const NoiseSource& noise,
                   const ResidualSetting& setting);

// Adds a rehearsal: what it leaves as well does not speak against operator or noise. It explains
// nothing where chi2 is not that of its own samples.
void add_rehearsal(RestorationReport& report, const Rehearsal& rehearsal);

}  // namespace eps
