// Features of the Inception network that FID is defined by.
#include "eps/metrics/inception.h"

#include <algorithm>

#include "eps/metrics/inception_blocks.h"

namespace eps {
namespace {

constexpr int64_t kSide = 299;         // pixels of the images the network was trained on
constexpr int64_t kImagesAtOnce = 32;  // keeps memory bounded

// Returns the faster layout: oneDNN needs a third less time for this network with channels last.
at::MemoryFormat layout(at::Device device) {
  return device.is_cpu() ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
}

struct Folded {
  Tensor weight, bias;
};

const std::string kFirst = "Conv2d_1a_3x3";

// Tells whether batch norm stands beside the convolutions.
bool is_unfolded(const Safetensors& file, const std::string& name) {
  const bool unfolded = file.tensors.contains(kFirst + ".conv.weight");
  check(unfolded || file.tensors.contains(kFirst + ".weight"),
        name,
        ": no Inception network: it has neither ",
        kFirst,
        ".weight nor ",
        kFirst,
        ".conv.weight");
  return unfolded;
}

// Reads a convolution and the batch norm behind it as one convolution with bias:
// g (w * x - m) / s + b = (g w / s) * x + (b - g m / s).
Folded read_convolution(const Safetensors& file,
                        const std::string& name,
                        const nets::ConvShape& conv,
                        bool unfolded) {
  const Shape out = {conv.weight[0]};
  const auto read = [&](const std::string& which, const Shape& shape) {
    return nets::read_weight(file, name, conv.name + which, shape);
  };
  if (!unfolded) return {read(".weight", conv.weight), read(".bias", out)};
  const Tensor weight = read(".conv.weight", conv.weight);
  const auto norm = [&](const char* which) { return read(which, out).to(at::kDouble); };
  const Tensor factor = norm(".bn.weight") / (norm(".bn.running_var") + 1e-3).sqrt();
  const Tensor bias = norm(".bn.bias") - norm(".bn.running_mean") * factor;
  return {(weight * factor.view({-1, 1, 1, 1})).to(at::kFloat), bias.to(at::kFloat)};
}

// Tells whether the file has any tensor of a convolution of this block.
bool has_part_of(const Safetensors& file, const std::string& block) {
  const auto found = file.tensors.lower_bound(block + ".");
  return found != file.tensors.end() && found->first.starts_with(block + ".");
}

}  // namespace

Inception::Inception(const Safetensors& file, const std::string& name, at::Device device) {
  const bool unfolded = is_unfolded(file, name);
  int64_t channels = 3;
  for (const auto& [block_name, block] : inception_blocks()) {
    if (!dimensions_.empty() && !has_part_of(file, block_name)) break;
    for (const nets::ConvShape& conv : nets::convolutions(block, channels)) {
      const auto [weight, bias] = read_convolution(file, name, conv, unfolded);
      weights_[conv.name + ".weight"] = weight.to(device).contiguous(layout(device));
      weights_[conv.name + ".bias"] = bias.to(device);
    }
    net_.push_back(block);
    net_.back().tap = block_name == "Mixed_6e" || block_name == "Mixed_7a";
    if (net_.back().tap) dimensions_.push_back(channels);
  }
  if (net_.size() == inception_blocks().size()) {
    dimensions_ = {channels};
    for (nets::FeatureBlock& block : net_) block.tap = &block == &net_.back();
  }
}

std::vector<Tensor> Inception::features(const Tensor& images) const {
  check(images.dim() == 4 && (images.size(1) == 3 || images.size(1) == 1),
        "inception: images must be N x 3 x H x W or N x 1 x H x W, got ",
        to_string(images.sizes()));
  c10::NoGradGuard no_grad;
  std::vector<std::vector<Tensor>> parts(dimensions_.size());
  for (const Tensor& chunk : images.split(kImagesAtOnce)) {
    // The network's images are in [-1, 1], too. FID resizes images in [0, 1], but weighted means
    // commute with the map from one to the other.
    const Tensor x = chunk.to(weights_.begin()->second.options()).clamp(-1, 1);
    const Tensor resized = at::upsample_bilinear2d(x, {kSide, kSide}, /*align_corners=*/false)
                               .expand({-1, 3, kSide, kSide})
                               .contiguous(layout(x.device()));
    const std::vector<Tensor> features = nets::tapped_features(net_, weights_, resized);
    for (size_t i = 0; i < features.size(); ++i) {
      parts[i].push_back(features[i].mean({2, 3}, /*keepdim=*/false, at::kDouble).cpu());
    }
  }
  std::vector<Tensor> whole;
  for (const auto& part : parts) whole.push_back(at::cat(part));
  return whole;
}

}  // namespace eps
