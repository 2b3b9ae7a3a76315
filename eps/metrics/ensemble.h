// Ensembles: S samples for each of N images, and the images' truths.
#pragma once

#include <any>

#include "eps/base/core.h"
#include "eps/metrics/ordered.h"

namespace eps {

struct EvaluationOptions;

// An `Ensemble` holds the samples and truths that a metric is computed of: a batch of images in
// float64, the features of all images, or all images as they lie in memory or in a mapped file.
struct Ensemble {
  Tensor samples;  // (S, N, C, H, W), or features (S, N, D)
  Tensor truth;    // (N, C, H, W), or (N, D)
  const EvaluationOptions& options;
  int64_t first = 0;  // the number of its first image among all

  // Returns compute(), which metrics that share a name compute once.
  template <class Function>
  auto once(const std::string& name, const Function& compute) const -> decltype(compute()) {
    std::any& value = kept[name];
    if (!value.has_value()) value = compute();
    return std::any_cast<decltype(compute())>(value);
  }
  // Returns the samples in order, which scores and intervals share.
  Tensor ordered() const {
    return once("ordered", [&] { return in_order(samples); });
  }
  mutable std::map<std::string, std::any> kept = {};
};

// Throws unless samples are (S, N, ...), S >= least, and truth is (N, ...).
inline void check_ensemble(const char* name,
                           const Tensor& samples,
                           const Tensor& truth,
                           int64_t least = 1) {
  check(truth.dim() >= 2 && samples.dim() >= 2 && samples.sizes().slice(1) == truth.sizes(),
        name,
        ": samples must be S x N x ... and truth N x ..., got ",
        to_string(samples.sizes()),
        " and ",
        to_string(truth.sizes()));
  check(samples.size(0) >= least,
        name,
        ": at least ",
        least,
        " samples of each image are wanted, got ",
        samples.size(0));
}

// Returns f(samples (S, D), truth (D)) of each image, in float64: (N, ...). The memory in use is
// that of one image.
template <class Function>
Tensor for_each_image(const Tensor& samples, const Tensor& truth, const Function& f) {
  std::vector<Tensor> results;
  for (int64_t n = 0; n < truth.size(0); ++n) {
    results.push_back(f(samples.select(1, n).flatten(1).to(at::kDouble),
                        truth.select(0, n).flatten().to(at::kDouble)));
  }
  return at::stack(results);
}

}  // namespace eps
