// Every metric of a set of samples, in one pass over the images.
#pragma once

#include "eps/metrics/metric.h"
#include "eps/metrics/metric_networks.h"
#include "eps/operators/operator.h"

namespace eps {

struct EvaluationOptions {
  const MetricNetworks* judges = nullptr;
  // What the images were restored from, in batches, for chi2; none: it is absent.
  const std::vector<Problem>* problems = nullptr;
  uint64_t seed = 0;  // of ties between ranks, and of the bootstrap
};

struct Evaluation {
  std::map<std::string, Reading> metrics;
  std::map<std::string, std::string> absent;  // and why
  std::vector<double> ranks;                  // the rank histogram; empty: too few samples
};

// samples: (S, N, C, H, W); truth: (N, C, H, W). Pixel errors are those of images in [0, 1]. The
// samples may be mapped from a file (map_npy): at most one sample of each image is in memory.
Evaluation evaluate(const Tensor& samples, const Tensor& truth, const EvaluationOptions& options);

}  // namespace eps
