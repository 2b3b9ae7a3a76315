// The Inception network of FID with random weights, its batch norms separate from its convolutions.
#pragma once

#include <cmath>

#include "eps/base/random.h"
#include "eps/metrics/inception_blocks.h"

namespace eps {

// Returns the weights up to the block `last`, scaled so that features stay about 1.
inline Safetensors random_inception(const std::string& last = "Mixed_7c") {
  Rng rng(1);
  Safetensors file;
  int64_t channels = 3;
  for (const auto& [name, block] : inception_blocks()) {
    for (const auto& [conv, shape] : convolutions(block, channels)) {
      const Shape out = {shape[0]};
      const auto fan_in = static_cast<double>(shape[1] * shape[2] * shape[3]);
      const auto normal = [&](const Shape& s) { return rng.normal(s, at::kFloat); };
      file.tensors[conv + ".conv.weight"] = normal(shape) * std::sqrt(2 / fan_in);
      file.tensors[conv + ".bn.weight"] = 1 + normal(out) * 0.2;
      file.tensors[conv + ".bn.bias"] = normal(out) * 0.2;
      file.tensors[conv + ".bn.running_mean"] = normal(out) * 0.2;
      file.tensors[conv + ".bn.running_var"] = rng.uniform(out, at::kFloat) + 0.5;
    }
    if (name == last) break;
  }
  return file;
}

}  // namespace eps
