// Noise that is not one number: measurements and operators whitened, so that it becomes one.
#pragma once

#include "eps/operators/operator.h"

namespace eps {

// Returns the problem W y = W A x + sigma n, n white, for measurement noise whose entries are
// independent with the given deviations: W = sigma / deviation, and sigma the deviation with the
// mean precision. It is the same problem (the likelihood of x does not change), so that its pivot
// is exact. deviation: > 0, in a shape that broadcasts over y; infinite where y is no measurement.
// Of a mask A'A stays diagonal in pixels, and under one deviation for each channel in any basis;
// other problems lose their fast basis.
Problem whiten(const Problem& problem, const Tensor& deviation);

// Returns the whitened problem for stationary noise with the power `spectrum`, (H, W/2 + 1):
// E|n(k)|^2 of the orthonormal rfft2 of y, > 0. A circular blur and the identity keep their fast
// basis.
Problem whiten_spectrum(const Problem& problem, const Tensor& spectrum);

// Returns the deviations sqrt(a^2 + b max(y - floor, 0)) of noise that grows with the signal, such
// as photons', where the measurement stands in for its own mean: an approximation, good where a few
// deviations are small beside the signal. floor: the level without light, -1 of pictures.
Tensor signal_deviation(const Tensor& y, double a, double b, double floor = -1);

}  // namespace eps
