// Features of the Inception network that FID is defined by (the graph of 2015-12-05).
#pragma once

#include "eps/nets/feature_net.h"

namespace eps {

// An `Inception` holds convolutions under torchvision's names, with batch norm folded in
// (Mixed_5b.branch1x1.weight and .bias) or beside them (.conv.weight, .bn.running_mean, ...). A
// file may end early, behind a block that is whole; tensors of other layers are passed over.
class Inception {
 public:
  // Missing tensors and wrong shapes are Errors that name the file, called `name`, and the tensor.
  Inception(const Safetensors& file, const std::string& name, at::Device device = at::kCPU);

  // Returns the lengths of the features the file can give, the first for general use: {2048} for a
  // whole network, {768, 1280} for one that ends with Mixed_7a or Mixed_7b, {768} with Mixed_6e.
  const std::vector<int64_t>& dimensions() const { return dimensions_; }

  // Returns one tensor (N, dimension), float64 on the CPU, for each of dimensions(): spatial means.
  // images: (N, 3 or 1, H, W), clipped to [-1, 1].
  std::vector<Tensor> features(const Tensor& images) const;

 private:
  std::vector<int64_t> dimensions_;
  nets::FeatureNet net_;  // as far as the file goes, tapped for each of dimensions_
  nets::Weights weights_;
};

}  // namespace eps
