// Clean images, degraded as a task does and restored by a method: what `eps run` and experiments
// share.
//
// The operator and the measurement noise of image n are functions of (seed, n), and its sample k is
// one of (seed, n, k), whatever the batch they are in. So methods that are compared see the same
// measurements, and a run that is cut in two gives the same numbers.
#pragma once

#include "eps/methods/method.h"

namespace eps::experiment {

struct Images {
  Tensor x0;           // (N, C, H, W), in [-1, 1] where they are images
  Tensor labels = {};  // (N, label_dim), for a network that is told the class
};

struct Protocol {
  std::string task;  // a task, or an operator
  double sigma_y = 0.05;
  uint64_t seed = 0;
  int64_t batch = 16;  // images, or samples, in memory together
};

// One problem for each batch of images, in float64 on the device.
std::vector<Problem> pose(const Protocol& trial, const Images& images, at::Device device);

// So many samples of every image, first the first of all images, then the second of all: `take`
// gets them batch by batch, (b, C, H, W) in float64. A batch may hold an image several times.
Cost restore(const Protocol& trial,
             const MethodChoice& choice,
             const Denoiser& denoiser,
             const Images& images,
             at::Device device,
             int64_t samples,
             const SampleOptions& options,
             const std::function<void(const Tensor& samples)>& take);

}  // namespace eps::experiment
