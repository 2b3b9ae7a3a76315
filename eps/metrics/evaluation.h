// Every metric of a set of samples, in one pass over the images.
#pragma once

#include "eps/metrics/metric.h"
#include "eps/metrics/metric_networks.h"
#include "eps/operators/operator.h"

namespace eps {

struct EvaluationOptions {
  const MetricNetworks* networks = nullptr;
  // The problems that the samples were drawn for, batch by batch; without them chi2 is absent.
  const std::vector<Problem>* problems = nullptr;
  uint64_t seed = 0;  // of ties between ranks, and of the bootstrap
};

struct Evaluation {
  std::map<std::string, Reading> metrics;
  std::map<std::string, std::string> absent;  // metrics without a value, and the reasons
  std::vector<double> ranks;                  // the rank histogram; empty for one sample
};

// Computes every metric of samples (S, N, C, H, W) with the truth (N, C, H, W). Pixel errors are
// those of images in [0, 1]. The samples may be mapped from a file (map_npy): at most one sample of
// each image is in memory.
Evaluation evaluate(const Tensor& samples, const Tensor& truth, const EvaluationOptions& options);

}  // namespace eps
