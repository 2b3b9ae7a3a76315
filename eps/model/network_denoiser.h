// A trained network as a denoiser: what samplers and methods ask.
#pragma once

#include "eps/diffusion/denoiser.h"
#include "eps/model/checkpoint.h"

namespace eps {

// Serves methods for its checkpoint's input, and answers the queries that make_query() makes for
// it.
class NetworkDenoiser final : public Denoiser {
 public:
  // Shares the network's tensors.
  explicit NetworkDenoiser(const Checkpoint& checkpoint);

  Tensor mean(const Query& query) const override;
  bool answers(Input input) const override { return input == method_input(input_); }
  Input shown(Input) const override { return input_; }
  double sigma_min() const override { return preconditioning_.sigma_min(); }
  double sigma_max() const override { return preconditioning_.sigma_max(); }
  // In the network's own range, where it has one, and on its own noise levels, each of them once.
  Tensor levels(const Tensor& sigma) const override;
  Input input() const { return input_; }

 private:
  const nets::UNet network_;
  const Preconditioning preconditioning_;
  const Input input_;
};

}  // namespace eps
