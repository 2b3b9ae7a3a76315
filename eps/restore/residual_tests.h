// Tests of the residual of posterior samples for structure that noise does not have.
//
// For exact samples of p(x | y) the pair (x, y) has the law of (x0, y). The residual
// r = (y - A x)/sigma_y is then white N(0, 1) noise, and independent of x. A statistic that is
// standardised for such an r given x has mean 0 and variance 1, whatever the image. Samples share
// their y and are not independent; the mean of a statistic over samples has at most the variance of
// one, so that a test which takes it to be 1 errs on the safe side.
#pragma once

#include "eps/operators/border.h"
#include "eps/restore/noise_model.h"

namespace eps {

// A `ResidualStatistic` is N(0, 1) at most under the right operator and white noise.
struct ResidualStatistic {
  std::string name;
  double z = 0;
  double size = 0;  // z as a correlation, or as a relative excess of variance
};

// The `ResidualTests` hold all statistics of a restoration. Their names:
//   neighbours_0_1, _1_0, _1_1, _1_-1, _0_2, _2_0
//                   autocorrelation of r at this distance (rows_columns);
//   channels        correlation of r between channels;
//   border          excess of r^2 within H/16 and W/16 pixels of the border over the inside;
//   edges           correlation of r^2 with the gradient of A x;
//   brightness      correlation of r with A x (contrast);
//   shift_x, _y     with A times the derivative of x (the place of pixels);
//   sharpness       with A times the Laplacian of x;
//   width           with x - A x, of a blur: the direction of a narrower kernel;
//   replicated      with B x - A x, of a blur whose border is known: B has the same kernel and a
//                   replicated border;
//   wrapped         likewise where that is the border: B has a circular one.
// Directions are whitened as y is.
// A statistic of fewer than kFewestResiduals entries is left out, and so are all of a measurement
// that is not image-like.
struct ResidualTests {
  std::vector<ResidualStatistic> statistics;
  // The statistics of a measurement that is known to fit (eps/restore/rehearsal.h), where there is
  // one: what a network's inexactness leaves there, it may leave twice here.
  std::vector<ResidualStatistic> rehearsed = {};

  // Returns the probability that exact samples have so large a |z| in any of the statistics, at
  // most.
  double p_value(const ResidualStatistic& statistic) const;
  // Returns whether a statistic is beyond chance, and beyond the inexactness of a network.
  bool found(const ResidualStatistic& statistic) const;
  bool found(const std::string& name) const;
  bool any_found() const;
  double largest() const;  // |z|
  const ResidualStatistic* find(const std::string& name) const;
};

// A `ResidualSetting` says how the measurement of a problem came about.
struct ResidualSetting {
  Whitening whitening = {};           // of noise that is not white
  std::optional<Border> border = {};  // of a blur
  Tensor offset = {};                 // y plus this was stored; undefined: y was
};

// Tests samples (S, C, H, W) of the problem, whose y has batch 1 and is not whitened: r is W (y - A
// x). It is divided by its own root mean square: its size is chi2's matter, and fitted noise leaves
// none. Entries where A x lies within three deviations of the ends of [-1, 1] are left out if y
// keeps to that range, as 8 bits clip there; the choice depends on x alone, which keeps the law of
// r. (Of coloured noise neighbours of a clipped pixel still have some of its error.)
ResidualTests test_residuals(const Problem& problem,
                             const Tensor& samples,
                             const ResidualSetting& setting = {});

inline constexpr double kFewestResiduals = 100;

// Returns the width in pixels of the border in the statistic of that name, for a side of `size`.
int64_t border_width(int64_t size);

}  // namespace eps
