// Files of untrained networks for 3 x 8 x 8 images.
#pragma once

#include "eps/model/checkpoint.h"
#include "tests/small_networks.h"

namespace eps {

inline void write_small_prior(const std::string& path) {
  const c10::NoGradGuard no_gradients;
  write_checkpoint(path, {.network = wave_network(small_ncsnpp())});
}

// Writes a network for the posterior, with an input of two images and the given provenance.
inline void write_small_eps(const std::string& path,
                            const Provenance& trained,
                            const NetworkInput& input = NetworkInput::eps) {
  const c10::NoGradGuard no_gradients;
  nets::UNetConfig wide = small_ncsnpp();
  wide.in_channels = 2 * wide.img_channels;
  write_checkpoint(path, {.network = wave_network(wide), .input = input, .provenance = trained});
}

}  // namespace eps
