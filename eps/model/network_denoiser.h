// A trained network as a denoiser for samplers and methods.
#pragma once

#include "eps/diffusion/denoiser.h"
#include "eps/model/checkpoint.h"

namespace eps {

// A `NetworkDenoiser` serves the methods that its checkpoint's input allows (serves()), with
// queries that make_query() builds with the checkpoint's own input.
class NetworkDenoiser final : public Denoiser {
 public:
  // The denoiser shares the network's tensors.
  explicit NetworkDenoiser(const Checkpoint& checkpoint);

  Tensor mean(const Query& query) const override;
  std::optional<NetworkInput> input_for(const NetworkInput& method) const override;
  double sigma_min() const override { return preconditioning_.sigma_min(); }
  double sigma_max() const override { return preconditioning_.sigma_max(); }
  // Returns levels in the network's own range, where it has one, rounded to its own noise levels,
  // each of them once.
  Tensor levels(const Tensor& sigma) const override;
  const NetworkInput& input() const { return input_; }

 private:
  const nets::UNet network_;
  const Preconditioning preconditioning_;
  const NetworkInput input_;
};

}  // namespace eps
