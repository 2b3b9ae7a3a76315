// One measurement restored: posterior samples, their mean and their spread, and whether they fit
// the measurement.
#pragma once

#include "eps/methods/method.h"

namespace eps {

// `RestorationOptions` set how many samples restore() draws, and how.
struct RestorationOptions {
  int64_t samples = 8;
  int64_t batch = 16;  // samples in memory together; does not change them
  uint64_t seed = 0;
  int64_t channels = 0;  // of the denoiser's images; 0: as the measurement's
  // The function is called after each evaluation with one that computes the running mean: of the
  // samples that are finished and of the estimates for those of the batch, (C, H, W) in [-1, 1].
  // The mean is valid during the call only, and costs nothing unless it is asked for.
  std::function<void(const std::function<Tensor()>& mean)> on_mean = {};
  // An exception of the function stops the restoration, which leaves nothing behind.
  std::function<void(int64_t images)> on_evaluation = {};
};

// A `Restoration` holds samples and their summary, on the CPU in float64; images are in [-1, 1].
struct Restoration {
  Tensor samples;    // (S, C, H, W), clipped
  Tensor mean;       // (C, H, W)
  Tensor deviation;  // the standard deviation of each pixel; undefined for one sample
  Tensor low, high;  // the ends of its 90% interval (interval_kind()); likewise
  double chi2 = 0;   // chi_square() of the clipped samples, on average; about 1 when they fit
  int64_t measurements = 0;  // M, the number of measured entries
  Cost cost;                 // of all samples together
  double seconds = 0;
};

// Draws samples of p(x0 | y) for one measurement, y of batch 1. Sample k is a function of (seed,
// k).
//
// A measurement of a grey image is repeated in each of the C channels of a colour denoiser, and
// given colour noise whose mean over the channels is 0, so that each channel has independent noise
// of standard deviation sqrt(C) sigma_y. Then sum_c |y_c - A x_c|^2 / (C sigma_y^2) is the sum of
// |y - A m|^2 / sigma_y^2, m the mean of the channels, and of a term that measures "no colour": an
// ordinary problem for the denoiser. The samples are m.
Restoration restore(const MethodChoice& choice,
                    const Denoiser& denoiser,
                    const Problem& problem,
                    const RestorationOptions& options);

// Returns mean, deviation and interval of samples (S, C, H, W).
Restoration summarise(const Tensor& samples);

// Returns the factor of the measurement noise before a denoiser of `channels` channels: sqrt(C) for
// a measurement of a grey image (see restore()), 1 otherwise.
double noise_factor(const Problem& problem, int64_t channels);

// Returns choose_method(spec, task, steps). A method of a network trained for the posterior has a
// last noise level well below the measurement's, unless the spec states it: the last step
// (eps/methods/estimate.h) is exact in the limit of no noise only.
MethodChoice method_for(const std::string& spec,
                        const std::string& task,
                        double sigma_y,
                        int64_t steps);

// Returns "" if chi2, the mean over samples of M measurements each, is that of a fit, and otherwise
// a sentence about the misfit. For exact samples chi2 has the standard deviation sqrt(2/M) or less;
// storage in 8 bits, clipping and an imperfect network add some, so that a misfit must also lie
// outside [0.8, 1.25]. estimated: the noise was not stated.
std::string misfit_words(double chi2, int64_t measurements, bool estimated);

}  // namespace eps
