// Convolutional classifiers as tables, cut off where metrics take their features.
#pragma once

#include <array>
#include <variant>

#include "eps/io/safetensors.h"

namespace eps::nets {

using Extent = std::array<int64_t, 2>;  // rows, columns

// A convolution and its ReLU. Its tensors are <name>.weight and <name>.bias.
struct ConvRelu {
  std::string name;
  int64_t out = 0;  // channels
  Extent kernel = {1, 1};
  int64_t stride = 1;
  Extent padding = {0, 0};
};

// Averages are over the pixels there are, without the padding.
struct Pool {
  enum class Kind { maximum, average };
  Kind kind = Kind::maximum;
  int64_t kernel = 3, stride = 2, padding = 0;
  bool ceil_mode = false;  // windows that reach over the edge count too
};

// Convolutions of one input, mostly one; or a pool.
using FeatureLayer = std::variant<std::vector<ConvRelu>, Pool>;
using Branch = std::vector<FeatureLayer>;

// Branches of one input, often one. What branches, or convolutions of a layer, give is joined along
// the channels.
struct FeatureBlock {
  std::vector<Branch> branches;
  bool tap = false;  // its output is a feature that is wanted
};
using FeatureNet = std::vector<FeatureBlock>;

using Weights = std::map<std::string, Tensor>;

// The outputs of the blocks that are tapped, each (N, C, H, W). x: (N, C, H, W), which is not
// changed.
std::vector<Tensor> tapped_features(const FeatureNet& net, const Weights& weights, const Tensor& x);

// A block's convolutions and the shapes of their weights; `channels` of its input become those of
// its output.
struct ConvShape {
  std::string name;
  Shape weight;
};
std::vector<ConvShape> convolutions(const FeatureBlock& block, int64_t& channels);

// A tensor of a file, in float32. Where it is missing or of another shape: an Error with both
// names.
Tensor read_weight(const Safetensors& file,
                   const std::string& file_name,
                   const std::string& tensor,
                   const Shape& shape);

}  // namespace eps::nets
