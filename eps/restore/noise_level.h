// The measurement noise sigma_y, estimated from the measurement itself.
#pragma once

#include "eps/model/checkpoint.h"
#include "eps/restore/restoration.h"

namespace eps {

// Estimates sigma_y from an image-like measurement y (N, C, H, W): the median absolute deviation of
// its finest diagonal detail (a - b - c + d)/2 over 2 x 2 neighbours, divided by 0.6745 (Donoho and
// Johnstone 1994). White noise keeps its standard deviation in the detail, and a linear ramp leaves
// none; fine texture of y counts as noise. measured: 0 where y is no measurement, of a shape that
// broadcasts to y; undefined: all of y is measured. Too few neighbours are an Error.
double robust_noise_level(const Tensor& y, const Tensor& measured = {});

// Returns the range that an estimate is kept in: the noise of the network's training, divided by
// noise_factor, and in [1e-3, 1] in any case. A network that was trained without noise is an Error;
// `name` is the network's.
Range noise_search_range(const Checkpoint& network, const std::string& name, double noise_factor);

// Returns "" if the fitted sigma_y agrees with robust_noise_level(), and a sentence if it is larger
// by a factor above kNoiseExcess: a wrong operator leaves a residual that the fit takes for noise,
// and that has no finest detail. Fine texture raises the robust level, never the ratio. A level
// below the range counts as its low end, and half a grey level of 8 bits as nothing: the detail of
// bytes is a multiple of that.
inline constexpr double kNoiseExcess = 1.3;
std::string noise_excess_words(double fitted, double robust, const Range& range);

// Returns the sigma_y in the range under which y is most likely, by EM from problem.sigma_y. The
// step of EM sigma_y^2 <- E[|y - A x0|^2 | y, sigma_y] / M is sigma_y^2 times the mean chi2 of
// posterior samples, so that its fixed point is where they have chi2 = 1; secants of ln chi2 over
// ln sigma_y get there in fewer rounds, at most kNoiseRounds. All rounds have the same random
// numbers.
inline constexpr int kNoiseRounds = 4;
double likely_noise_level(const MethodChoice& choice,
                          const Denoiser& denoiser,
                          Problem problem,
                          const Range& range,
                          const RestorationOptions& options);

// Estimates sigma_y of a measurement: likely_noise_level() in noise_search_range(), from
// robust_noise_level() on, by kNoiseEvaluations of the network at most. `samples` of the options
// does not count; one sample of kManyMeasurements has a chi2 that is sure to 1%.
inline constexpr int64_t kManyMeasurements = 100000;
inline constexpr int64_t kNoiseSamples = 2, kNoiseSteps = 16,
                         kNoiseEvaluations = kNoiseRounds * kNoiseSamples * kNoiseSteps;
double estimate_noise(const Checkpoint& network,
                      const std::string& name,
                      const Denoiser& denoiser,
                      Problem problem,
                      RestorationOptions options);

}  // namespace eps
