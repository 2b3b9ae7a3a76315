// The protocol of an experiment: clean images, degraded by a task, and samples of a method.
//
// The operator and the measurement noise of image n are functions of (seed, n), and its sample k is
// a function of (seed, n, k), whatever the batch. So all methods have the same measurements, and an
// interrupted run gives the same numbers.
#pragma once

#include "eps/methods/method.h"

namespace eps::experiment {

// `Images` are the clean images of an experiment, with their labels.
struct Images {
  Tensor x0;           // (N, C, H, W), in [-1, 1] unless drawn from an exact prior
  Tensor labels = {};  // (N, label_dim), for a network with classes
};

// A `Protocol` holds what determines the measurements, and the batch.
struct Protocol {
  std::string task;  // a task, or an operator
  double sigma_y = 0.05;
  uint64_t seed = 0;
  // `batch` is the number of images, or samples, in memory together; a file with one operator for
  // each image makes it that of all images.
  int64_t batch = 16;
};

// Returns one problem for each batch of images, in float64 on the device.
std::vector<Problem> make_problems(const Protocol& protocol,
                                   const Images& images,
                                   at::Device device);

// Returns the problem of the first batch alone.
Problem first_problem(const Protocol& protocol, const Images& images, at::Device device);

// Draws `samples` samples of every image: first the first sample of all images, then the second of
// all. `append` receives each batch, (b, C, H, W) in float64; a batch may hold an image several
// times.
Cost draw_samples(const Protocol& protocol,
                  const MethodChoice& choice,
                  const Denoiser& denoiser,
                  const Images& images,
                  at::Device device,
                  int64_t samples,
                  const SampleOptions& options,
                  const std::function<void(const Tensor& samples)>& append);

}  // namespace eps::experiment
