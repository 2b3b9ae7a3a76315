// Evaluation of convolutional classifiers that are given as tables.
#include "eps/nets/feature_net.h"

#include "eps/base/printable.h"

namespace eps::nets {
namespace {

Tensor joined(const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts.front() : at::cat(parts, 1);
}

Tensor convolve(const ConvRelu& conv, const Weights& weights, const Tensor& x) {
  return at::conv2d(x,
                    weights.at(conv.name + ".weight"),
                    weights.at(conv.name + ".bias"),
                    conv.stride,
                    conv.padding)
      .relu_();
}

Tensor apply_pool(const Pool& pool, const Tensor& x) {
  if (pool.kind == Pool::Kind::average) {
    return at::avg_pool2d(x,
                          pool.kernel,
                          pool.stride,
                          pool.padding,
                          pool.ceil_mode,
                          /*count_include_pad=*/false);
  }
  return at::max_pool2d(x, pool.kernel, pool.stride, pool.padding, /*dilation=*/1, pool.ceil_mode);
}

Tensor apply_layer(const FeatureLayer& layer, const Weights& weights, const Tensor& x) {
  if (const auto* pool = std::get_if<Pool>(&layer)) return apply_pool(*pool, x);
  std::vector<Tensor> parts;
  for (const ConvRelu& conv : std::get<std::vector<ConvRelu>>(layer)) {
    parts.push_back(convolve(conv, weights, x));
  }
  return joined(parts);
}

Tensor apply_block(const FeatureBlock& block, const Weights& weights, const Tensor& x) {
  std::vector<Tensor> parts;
  for (const Branch& branch : block.branches) {
    Tensor part = x;
    for (const FeatureLayer& layer : branch) part = apply_layer(layer, weights, part);
    parts.push_back(part);
  }
  return joined(parts);
}

}  // namespace

std::vector<Tensor> tapped_features(const FeatureNet& net,
                                    const Weights& weights,
                                    const Tensor& x) {
  std::vector<Tensor> features;
  Tensor h = x;
  for (const FeatureBlock& block : net) {
    h = apply_block(block, weights, h);
    if (block.tap) features.push_back(h);
  }
  return features;
}

std::vector<ConvShape> convolutions(const FeatureBlock& block, int64_t& channels) {
  std::vector<ConvShape> shapes;
  int64_t joined_channels = 0;
  for (const Branch& branch : block.branches) {
    int64_t in = channels;
    for (const FeatureLayer& layer : branch) {
      const auto* convs = std::get_if<std::vector<ConvRelu>>(&layer);
      if (convs == nullptr) continue;
      int64_t out = 0;
      for (const ConvRelu& conv : *convs) {
        shapes.push_back({conv.name, {conv.out, in, conv.kernel[0], conv.kernel[1]}});
        out += conv.out;
      }
      in = out;
    }
    joined_channels += in;
  }
  channels = joined_channels;
  return shapes;
}

Tensor read_weight(const Safetensors& file,
                   const std::string& file_name,
                   const std::string& tensor,
                   const Shape& shape) {
  const auto found = file.tensors.find(tensor);
  check(found != file.tensors.end(), file_name, ": tensor '", printable(tensor), "' is missing");
  check(found->second.sizes() == shape,
        file_name,
        ": tensor '",
        printable(tensor),
        "' must be ",
        to_string(shape),
        ", got ",
        to_string(found->second.sizes()));
  return found->second.to(at::kFloat);
}

}  // namespace eps::nets
