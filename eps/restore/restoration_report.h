// The report on a restoration: what was restored, how, and whether the samples fit.
#pragma once

#include <optional>

#include "eps/restore/holes.h"
#include "eps/restore/measurement.h"
#include "eps/restore/operator_findings.h"
#include "eps/restore/restoration.h"

namespace eps {

// A `RestorationReport` holds the numbers and words of a restoration.
struct RestorationReport {
  std::string input = {};  // name of the measurement
  bool simulated = false;
  std::string operator_spec = {};
  double sigma_y = 0;  // in units of [-1, 1]
  bool noise_estimated = false;
  std::string noise_words = {};  // NoiseModel::words(); sigma_y is then that of the whitened noise
  bool noise_at_limit = false;   // the estimate is the least that the network was trained for
  // The robust_noise_level() of the measurement, where the noise was estimated.
  std::optional<double> finest_detail = {};
  std::string network = {}, method = {};
  int64_t samples = 0, steps = 0;
  uint64_t seed = 0;
  int64_t measurements = 0;
  double chi2 = 0;
  double measured_share = 1;  // of the entries of y
  std::string misfit = {};    // misfit_words(); empty: chi2 is that of a fit
  // The chi2 of a rehearsal (eps/restore/rehearsal.h), where chi2 or a test called for one.
  std::optional<double> chi2_rehearsed = {};
  // The method approximates the posterior: its own error is part of chi2 and of the residual, and
  // no finding is made of them.
  bool approximate = false;
  std::vector<Window> windows = {};  // in which holes were restored; none: the picture was
  bool quick = false;                // one evaluation: the mean is the only result
  ResidualTests residual = {};
  std::string kernel = {};  // how a kernel is taken that is not its own mirror image, in words
  std::optional<KernelTrial> kernel_trial = {};
  // Sentences of what speaks against operator, noise or network: operator_findings() and others.
  std::vector<std::string> findings = {};
  std::vector<std::string> warnings = {};  // RestorationResult::warnings
  std::string interval = {};               // interval_kind()
  double evaluations_per_sample = 0;
  // Of pivots that were iterated (eps/diffusion/pivot.h): the iterations, and a bound of their
  // error in units of the pivot's own noise; 0 for closed forms.
  int64_t pivot_iterations = 0;
  double pivot_error = 0;
  double seconds = 0;
  // The deviation that is white in a picture of deviations: that of the most uncertain pixel.
  std::optional<double> deviation_of_white = {};
  std::optional<double> psnr_of_samples = {}, psnr_of_mean = {};  // where the truth is known

  // Returns whether neither chi2 nor a test speaks against the samples. Of estimated noise chi2
  // says nothing, as the noise is chosen by it.
  bool fits() const { return misfit.empty() && findings.empty(); }
  std::string verdict() const;  // on chi2, in words
};

// Adds the numbers of a restoration to a report with `noise_estimated` filled in. truth: (1, C, H,
// W), or undefined.
void add_results(RestorationReport& report, const Restoration& restoration, const Tensor& truth);

// Returns the contents of restore.json (docs/file_formats.md).
std::string to_json(const RestorationReport& report);

}  // namespace eps
