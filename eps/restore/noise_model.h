// The noise of a user's measurement, where one number does not describe it.
#pragma once

#include <functional>
#include <optional>

#include "eps/operators/operator.h"

namespace eps {

inline constexpr double kGreyLevel = 1 / 127.5;  // of 8 bits, in units of [-1, 1]

// A `Cut` is the part of a picture's frame that a measurement has: the inside, where no part of a
// valid blur comes from beyond the frame.
struct Cut {
  int64_t top = 0, left = 0, height = 0, width = 0;
  int64_t full_height = 0, full_width = 0;  // of the frame

  bool is_frame(const Tensor& picture) const;  // it has the size of the frame
  Tensor of(const Tensor& picture) const;      // (..., H, W)
};

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
  std::string words() const;                // "by the map m.png"; empty for white noise
  std::vector<std::string> stated() const;  // the fields that are set, in words
};

// Returns the deviations of the noise, in a shape that broadcasts over y; undefined for coloured
// noise. sigma_y: the deviation without light, for noise that grows with the signal. A map of the
// frame of a cut is cut, too.
Tensor deviations(const NoiseModel& noise,
                  const Tensor& y,
                  double sigma_y,
                  const std::optional<Cut>& cut = {});

// A `Whitening` is the operator W that makes the noise of a measurement white, and the deviations
// that the noise has without it, in a shape that broadcasts over y.
struct Whitening {
  Operator W = nullptr;  // none: the noise is white
  Tensor deviation = {};

  // Returns the problem W y = W A x + sigma_y n (eps/operators/whitened.h).
  std::function<Problem(const Problem& problem)> of = {};
};

// Returns the whitening of noise that is not white. problem.sigma_y counts only for noise that
// grows with the signal, problem.A not at all.
Whitening whitening_of(const NoiseModel& noise,
                       const Problem& problem,
                       const std::optional<Cut>& cut = {});

// Returns the measurement and the operator of a problem whitened.
Problem whitened(const NoiseModel& noise,
                 const Problem& problem,
                 const std::optional<Cut>& cut = {});

// Returns noise of the model for a measurement without any, `clean`.
Tensor draw_noise(const NoiseModel& noise,
                  const Tensor& clean,
                  double sigma_y,
                  Rng& rng,
                  const std::optional<Cut>& cut = {});

}  // namespace eps
