// Networks and images whose every number a formula gives, so that tests store no weights.
#pragma once

#include <c10/core/GradMode.h>

#include <cmath>

#include "eps/nets/unet.h"

namespace eps {

// Returns w(0), w(1), ... in this shape, where w(i) = sqrt(2) sin(i^2): irregular, of unit
// variance.
inline Tensor waves(const Shape& shape, const at::TensorOptions& options = at::kFloat) {
  const Tensor i = at::arange(c10::multiply_integers(shape), at::kDouble);
  return (at::sin(i * i) * std::sqrt(2)).reshape(shape).to(options);
}

// Returns a network in which number i of a tensor with fan-in f is w(i) / sqrt(f); norms have
// 1 + w(i) / 10 and w(i) / 10; the Fourier frequencies are 16 w(i).
inline nets::UNet wave_network(const nets::UNetConfig& config) {
  c10::NoGradGuard no_grad;
  nets::UNet network(config);
  Rng rng(0);
  network.initialise(rng);  // for the resampling filters
  for (const auto& [name, tensor] : network.parameters()) {
    const Tensor wave = waves(tensor.sizes().vec(), at::kDouble);
    const bool norm = name.find("norm") != std::string::npos;
    const bool scale = norm && name.ends_with("weight");
    const auto fan_in = static_cast<double>(tensor[0].numel());
    tensor.copy_(norm ? wave / 10 + (scale ? 1 : 0) : wave / std::sqrt(fan_in));
  }
  for (const auto& [name, tensor] : network.buffers()) {
    if (name == "map_noise.freqs") tensor.copy_(waves(tensor.sizes().vec()) * 16);
  }
  return network;
}

}  // namespace eps
