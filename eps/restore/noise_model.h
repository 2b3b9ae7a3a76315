// The noise of a user's measurement, where one number does not describe it.
#pragma once

#include <optional>

#include "eps/operators/operator.h"

namespace eps {

// A `NoiseModel` says how the deviation of the noise differs from entry to entry of a measurement,
// in units of [-1, 1]. At most one of its fields is set; none: white noise of one deviation.
struct NoiseModel {
  std::vector<double> channels = {};  // a deviation for each channel
  std::string map = {};       // file of the deviations: a picture, in grey levels of 8 bits,
                              // or an array H x W or C x H x W
  std::string spectrum = {};  // file of the power E|n(k)|^2 of the orthonormal fft2, H x W, zero
                              // frequency first; or of rfft2
  // The growth b of the variance with the signal, a^2 + b (y + 1), a the deviation without light.
  std::optional<double> growth = {};

  bool is_white() const;
  std::string words() const;  // "by the map m.png"; empty for white noise
};

// Returns the deviations of the noise, in a shape that broadcasts over y; undefined for coloured
// noise. sigma_y: the deviation without light, for noise that grows with the signal.
Tensor deviations(const NoiseModel& noise, const Tensor& y, double sigma_y);

// Returns the measurement and the operator of a problem whitened (eps/operators/whitened.h).
// problem.sigma_y counts only for noise that grows with the signal.
Problem whitened(const NoiseModel& noise, const Problem& problem);

// Returns noise of the model for a measurement without any, `clean`.
Tensor draw_noise(const NoiseModel& noise, const Tensor& clean, double sigma_y, Rng& rng);

}  // namespace eps
