// Inputs of an experiment: images, denoisers and the networks of metrics.
#pragma once

#include "eps/experiment/protocol.h"
#include "eps/metrics/metric_networks.h"

namespace eps::experiment {

// A `LoadedDenoiser` is a denoiser with the number of images that it was trained for.
struct LoadedDenoiser {
  std::shared_ptr<const Denoiser> denoiser;
  int64_t images_seen = 0;
};

struct ExperimentInputs {
  Images images;
  bool bounded = true;  // images in [-1, 1]; samples are clipped to that range
  std::map<std::string, std::vector<std::string>> models = {};  // files by name
  // Reads the network of a file for a method with this input; `method` is for messages.
  std::function<LoadedDenoiser(
      const std::string& file, const NetworkInput& input, const std::string& method)>
      load;
  MetricNetworks metric_networks = {};
  at::Device device = at::kCPU;
  std::string arithmetic = {};  // of the networks, unless it is their own
};

}  // namespace eps::experiment
