// A restoration of a measurement that is known to fit.
#include "eps/restore/rehearsal.h"

namespace eps {

bool Rehearsal::explains(double other, int64_t measurements) const {
  return misfit_words(other / chi2, measurements, false).empty();
}

Rehearsal rehearse(const TrialSampler& sampler,
                   const Problem& problem,
                   const Tensor& sample,
                   const NoiseSource& noise,
                   const ResidualSetting& setting) {
  TrialSampler again = sampler;
  again.options.seed = derive_seed(sampler.options.seed, Stream::rehearsal, 0);
  Rng rng(derive_seed(sampler.options.seed, Stream::rehearsal, 1));
  Problem simulated = problem;
  const Tensor clean = problem.A->apply(sample.to(problem.y.options()));
  simulated.y = clean + problem.A->format().measured(noise(clean, rng));
  const Restoration restored = again.restored(simulated);
  return {restored.chi2, test_residuals(simulated, restored.samples, setting)};
}

void add_rehearsal(RestorationReport& report, const Rehearsal& rehearsal) {
  report.chi2_rehearsed = rehearsal.chi2;
  if (!rehearsal.explains(report.chi2, report.measurements)) return;
  report.misfit.clear();
  report.residual.rehearsed = rehearsal.residual.statistics;
}

}  // namespace eps
