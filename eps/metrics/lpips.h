// Learned perceptual image patch similarity (Zhang et al. 2018), v0.1.
//
//   sum_l mean_p sum_c w_lc (u_lcp(x) - u_lcp(y))^2, u_l the features of layer l of a classifier,
//   at each pixel p divided by their norm over the channels c
#pragma once

#include "eps/metrics/lpips_trunks.h"

namespace eps {

// An `Lpips` holds a trunk's convolutions under torchvision's names (features.0.weight, ...) and
// the weights of its layers (lin0.weight, or lin0.model.1.weight as they are published). Tensors of
// a classifier behind the trunk are passed over.
class Lpips {
 public:
  // Reads the net that the names of the tensors belong to. Missing tensors and wrong shapes are
  // Errors that name the file, called `name`, and the tensor.
  Lpips(const Safetensors& file, const std::string& name, at::Device device = at::kCPU);

  const std::string& net() const { return trunk_.name; }  // "alex", "vgg" or "squeeze"

  int64_t smallest() const { return trunk_.smallest; }  // side of an image, in pixels

  // Returns the distance of each image: (N), float64 on the CPU. images and truth: (N, 3 or 1, H,
  // W), clipped to [-1, 1].
  Tensor operator()(const Tensor& images, const Tensor& truth) const {
    return mean_distance(images.unsqueeze(0), truth);
  }
  // Returns the distance of each image's samples on average, samples: (S, N, 3 or 1, H, W).
  Tensor mean_distance(const Tensor& samples, const Tensor& truth) const;

 private:
  std::vector<Tensor> unit_features(const Tensor& images) const;

  LpipsTrunk trunk_;
  nets::Weights weights_;     // of the trunk
  std::vector<Tensor> lins_;  // (1, C, 1, 1) for each feature
  Tensor shift_, scale_;      // of the scaling layer
};

}  // namespace eps
