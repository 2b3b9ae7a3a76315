// A trained network as a denoiser.
#include "eps/network_denoiser.h"

namespace eps {

NetworkDenoiser::NetworkDenoiser(const Checkpoint& checkpoint)
    : network_(checkpoint.network),
      preconditioning_(checkpoint.preconditioning.on(checkpoint.network.device())),
      input_(checkpoint.input) {}

Tensor NetworkDenoiser::mean(const Query& query) const {
  return denoise(network_, preconditioning_, query);
}

}  // namespace eps
