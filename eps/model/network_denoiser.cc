// A trained network as a denoiser.
#include "eps/model/network_denoiser.h"

#include "eps/model/preconditioned_query.h"

namespace eps {

NetworkDenoiser::NetworkDenoiser(const Checkpoint& checkpoint)
    : network_(checkpoint.network),
      preconditioning_(checkpoint.preconditioning.on(checkpoint.network.device())),
      input_(checkpoint.input) {}

Tensor NetworkDenoiser::mean(const Query& query) const {
  return denoise(network_, preconditioning_, input_, query);
}

std::optional<NetworkInput> NetworkDenoiser::input_for(const NetworkInput& method) const {
  if (!serves(input_, method)) return {};
  return input_;
}

Tensor NetworkDenoiser::levels(const Tensor& sigma) const {
  const Tensor inside = at::where(sigma > 0, sigma.clamp(sigma_min(), sigma_max()), sigma);
  return std::get<0>(at::unique_consecutive(rounded_sigma(preconditioning_, inside)));
}

}  // namespace eps
