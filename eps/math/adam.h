// Adam (Kingma and Ba 2015) updates all parameters of a network as one tensor.
#pragma once

#include "eps/base/core.h"

namespace eps {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

class Adam {
 public:
  // `parameters` is updated in place.
  Adam(Tensor parameters, const AdamOptions& options);

  // Takes one step downhill along the gradient. No value is read back from the device.
  void step(const Tensor& gradient, double learning_rate);

  // A `State` holds the running means of the gradient and of its square, and the number of steps.
  struct State {
    Tensor mean, square;
    int64_t steps = 0;
  };
  State& state() { return state_; }
  const State& state() const { return state_; }

 private:
  const Tensor parameters_;
  const AdamOptions options_;
  State state_;
};

// Returns EDM's learning rate: a ramp from 0 over the first `rampup` images.
double learning_rate_at(int64_t images_seen, double rate, double rampup);

// Returns the factor of the learning rate at the end of a run of `images` images: over the last
// `decay` of them it falls linearly from 1 to 0 (0: it stays 1).
double decay_at(int64_t images_seen, int64_t images, double decay);

// Returns EDM's weight of the old average for a step of `batch` images: 0.5^(batch / half-life),
// the half-life limited to `rampup` times the images seen (0: not limited).
double ema_weight_at(int64_t images_seen, int64_t batch, double halflife, double rampup);

}  // namespace eps
