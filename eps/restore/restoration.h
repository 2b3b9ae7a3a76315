// One measurement restored: posterior samples, what they agree on and where they do not, and
// whether they explain the measurement.
#pragma once

#include "eps/base/spec.h"
#include "eps/methods/method.h"

namespace eps {

struct RestorationOptions {
  int64_t samples = 8;
  int64_t batch = 16;  // samples in memory together; they are the same whatever it is
  uint64_t seed = 0;
  int64_t channels = 0;  // of the denoiser's images; 0: those of the measurement's
  std::function<void(int64_t images)> on_evaluation = {};
};

// On the CPU in float64; images in [-1, 1].
struct Restoration {
  Tensor samples;    // (S, C, H, W), clipped
  Tensor mean;       // (C, H, W)
  Tensor deviation;  // the standard deviation of each pixel; undefined for one sample, as are
  Tensor low, high;  // the ends of its 90% interval (see interval_kind())
  double chi2 = 0;   // chi_square() of the clipped samples, on average; about 1 when they fit
  int64_t measurements = 0;  // M, the number that chi2 is the mean of
  Cost cost;                 // of all samples together
  double seconds = 0;
};

// Samples of p(x0 | y) for one measurement, y of batch 1. Sample k is a function of (seed, k).
//
// A measurement of a grey image, asked of a denoiser of images with C channels, is repeated in each
// of them and given colour noise that has no part in their mean, so that each channel has noise of
// its own, of sqrt(C) sigma_y. Then sum_c |y_c - A x_c|^2 / (C sigma_y^2) has y = A m + sigma_y n
// as a summand, m the mean of the channels, and beside it "no colour" as a measurement: the problem
// is one of those that the denoiser knows. The samples are m.
Restoration restore(const MethodChoice& choice,
                    const Denoiser& denoiser,
                    const Problem& problem,
                    const RestorationOptions& options);

// The sigma_y under which y is most likely, in the range: EM from problem.sigma_y. Its step
// sigma_y^2 <- E[|y - A x0|^2 | y, sigma_y] / M is sigma_y^2 times the mean chi2 of posterior
// samples, so that its fixed point is where they have chi2 = 1; secants of ln chi2 over ln sigma_y
// get there in fewer rounds, at most kNoiseRounds. They all have the same random numbers.
inline constexpr int kNoiseRounds = 4;
double likely_noise_level(const MethodChoice& choice,
                          const Denoiser& denoiser,
                          Problem problem,
                          const Range& range,
                          const RestorationOptions& options);

// Mean, deviation and interval of samples (S, C, H, W).
Restoration summarise(const Tensor& samples);

// How S samples tell the interval that holds the truth with 90%:
//   quantiles  from 19 on, by their order statistics (central_interval());
//   student_t  below, where they cannot resolve tails of 5%: mean +- t s sqrt(1 + 1/S), t the 95%
//              quantile of Student's t with S - 1 degrees of freedom, exact where the posterior is
//              Gaussian, clipped to [-1, 1];
//   none       of one sample.
std::string interval_kind(int64_t samples);

// How much more noise a measurement has that a denoiser of so many channels is asked about: sqrt(C)
// where it is of a grey image (see restore()), 1 otherwise.
double noise_factor(const Problem& problem, int64_t channels);

// The method for a network of this input, with a last noise level well below the measurement's:
// the last step of a sampler takes away what noise is left, and samples lose as much of their
// spread. At a fifth, chi2 loses a twenty-fifth at most.
MethodChoice method_for(const NetworkInput& network, double sigma_y, int64_t steps);

// Empty if chi2, the mean over samples of M measurements each, says that they fit; otherwise what
// is wrong. Of exact samples it has the standard deviation sqrt(2/M) or less; storage in 8 bits,
// clipping and an imperfect network add some, so that only what lies outside [0.8, 1.25] as well
// counts as a misfit. estimated: the noise was not stated.
std::string misfit_words(double chi2, int64_t measurements, bool estimated);

}  // namespace eps
