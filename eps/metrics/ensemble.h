// What metrics of an ensemble share: S samples for each of N images, taken image by image, so that
// the memory in use is that of one image.
#pragma once

#include "eps/base/core.h"

namespace eps {

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

// f(samples (S, D), truth (D)) of each image, in float64: (N, ...).
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
