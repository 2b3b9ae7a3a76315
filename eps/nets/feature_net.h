// Convolutional classifiers as tables, up to the last layer that metrics use as features.
#pragma once

#include <array>
#include <variant>

#include "eps/io/safetensors.h"

namespace eps::nets {

using Extent = std::array<int64_t, 2>;  // rows, columns

// A `ConvRelu` is a convolution and its ReLU. Its tensors are <name>.weight and <name>.bias.
struct ConvRelu {
  std::string name;
  int64_t out = 0;  // output channels
  Extent kernel = {1, 1};
  int64_t stride = 1;
  Extent padding = {0, 0};
};

// A `Pool` takes maxima or averages of windows. Averages do not count the padding.
struct Pool {
  enum class Kind { maximum, average };
  Kind kind = Kind::maximum;
  int64_t kernel = 3, stride = 2, padding = 0;
  bool ceil_mode = false;  // windows that cross the edge count too
};

// A layer is a pool, or one or several convolutions of the same input.
using FeatureLayer = std::variant<std::vector<ConvRelu>, Pool>;
using Branch = std::vector<FeatureLayer>;

// A `FeatureBlock` applies one or several branches to the same input. The outputs of branches, and
// of the convolutions of a layer, are concatenated along the channels.
struct FeatureBlock {
  std::vector<Branch> branches;
  bool tap = false;  // whether the output is a feature
};
using FeatureNet = std::vector<FeatureBlock>;

using Weights = std::map<std::string, Tensor>;

// Returns the outputs of the tapped blocks, each (N, C, H, W). x (N, C, H, W) stays unchanged.
std::vector<Tensor> tapped_features(const FeatureNet& net, const Weights& weights, const Tensor& x);

// A `ConvShape` holds the name of a convolution and the shape of its weight. convolutions() lists
// the convolutions of a block, and replaces the input's number of `channels` by the output's.
struct ConvShape {
  std::string name;
  Shape weight;
};
std::vector<ConvShape> convolutions(const FeatureBlock& block, int64_t& channels);

// Reads a tensor of a file in float32. Throws an Error with the names of the file and the tensor
// where the tensor is missing or has another shape.
Tensor read_weight(const Safetensors& file,
                   const std::string& file_name,
                   const std::string& tensor,
                   const Shape& shape);

}  // namespace eps::nets
