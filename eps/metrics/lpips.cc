// Learned perceptual image patch similarity.
#include "eps/metrics/lpips.h"

#include <algorithm>

#include "eps/metrics/ensemble.h"
#include "eps/metrics/evaluation.h"

namespace eps {
namespace {

// A bound on memory: VGG's first features are 64 float64 numbers for each pixel.
constexpr int64_t kPixelsAtOnce = 32 * 64 * 64;

// Returns the trunk with the largest part of its tensors in the file, so that an error can name the
// missing ones.
const LpipsTrunk& recognise(const Safetensors& file, const std::string& name) {
  const LpipsTrunk* best = nullptr;
  double best_part = 0;
  for (const LpipsTrunk& trunk : lpips_trunks()) {
    double wanted = 0, found = 0;
    int64_t channels = 3;
    for (const nets::FeatureBlock& block : trunk.net) {
      for (const nets::ConvShape& conv : nets::convolutions(block, channels)) {
        wanted += 1;
        found += static_cast<double>(file.tensors.count(conv.name + ".weight"));
      }
    }
    if (found / wanted > best_part) {
      best = &trunk;
      best_part = found / wanted;
    }
  }
  check(best != nullptr,
        name,
        ": no LPIPS network: it has no convolutions of AlexNet, VGG16 or SqueezeNet 1.1 "
        "(features.0.weight, ...)");
  return *best;
}

Tensor read_lin(const Safetensors& file, const std::string& name, size_t layer, int64_t channels) {
  const std::string lin = "lin" + std::to_string(layer);
  const std::string published = lin + ".model.1.weight";
  const bool is_published = file.tensors.contains(published);
  return nets::read_weight(
      file, name, is_published ? published : lin + ".weight", {1, channels, 1, 1});
}

void check_images(const Tensor& images, const Tensor& truth, const LpipsTrunk& trunk) {
  check(images.sizes() == truth.sizes(),
        "lpips: images are ",
        to_string(images.sizes()),
        ", the truth is ",
        to_string(truth.sizes()));
  check(images.dim() == 4 && (images.size(1) == 3 || images.size(1) == 1),
        "lpips: images must be N x 3 x H x W or N x 1 x H x W, got ",
        to_string(images.sizes()));
  check(std::min(images.size(2), images.size(3)) >= trunk.smallest,
        "lpips: with ",
        trunk.name,
        " images must be at least ",
        trunk.smallest,
        " pixels wide and high, got ",
        to_string(images.sizes()));
}

}  // namespace

Lpips::Lpips(const Safetensors& file, const std::string& name, at::Device device)
    : trunk_(recognise(file, name)) {
  int64_t channels = 3;
  for (const nets::FeatureBlock& block : trunk_.net) {
    for (const nets::ConvShape& conv : nets::convolutions(block, channels)) {
      const std::string weight = conv.name + ".weight", bias = conv.name + ".bias";
      weights_[weight] = nets::read_weight(file, name, weight, conv.weight).to(device);
      weights_[bias] = nets::read_weight(file, name, bias, {conv.weight[0]}).to(device);
    }
    if (block.tap) {
      lins_.push_back(read_lin(file, name, lins_.size(), channels).to(device, at::kDouble));
    }
  }
  // ImageNet's means and deviations, for images in [-1, 1].
  shift_ = at::tensor({-.030, -.088, -.188}, at::kFloat).view({1, 3, 1, 1}).to(device);
  scale_ = at::tensor({.458, .448, .450}, at::kFloat).view({1, 3, 1, 1}).to(device);
}

// Returns the features of each layer, (N, C, H, W), float64.
std::vector<Tensor> Lpips::unit_features(const Tensor& images) const {
  const Tensor x = images.to(shift_.options()).clamp(-1, 1);  // grey broadcasts to three channels
  std::vector<Tensor> features = nets::tapped_features(trunk_.net, weights_, (x - shift_) / scale_);
  for (Tensor& feature : features) {
    feature = feature.to(at::kDouble);
    feature.div_(feature.square().sum(1, /*keepdim=*/true).sqrt_().add_(1e-10));
  }
  return features;
}

Tensor Lpips::mean_distance(const Tensor& samples, const Tensor& truth) const {
  check(samples.dim() == 5 && samples.size(0) > 0,
        "lpips: samples must be S x N x C x H x W, got ",
        to_string(samples.sizes()));
  check_images(samples[0], truth, trunk_);
  c10::NoGradGuard no_grad;
  const int64_t chunk = std::max<int64_t>(1, kPixelsAtOnce / (truth.size(2) * truth.size(3)));
  std::vector<Tensor> distances;
  for (int64_t begin = 0; begin < truth.size(0); begin += chunk) {
    const std::vector<Tensor> b = unit_features(truth.slice(0, begin, begin + chunk));
    Tensor distance = at::zeros({b[0].size(0)}, lins_[0].options());
    for (const Tensor& sample : samples.unbind(0)) {
      const std::vector<Tensor> a = unit_features(sample.slice(0, begin, begin + chunk));
      for (size_t l = 0; l < lins_.size(); ++l)
        distance += ((a[l] - b[l]).square_() * lins_[l]).sum(1).mean({1, 2});
    }
    distances.push_back(distance.cpu() / samples.size(0));
  }
  return at::cat(distances);
}

namespace {

// Returns the distance of each image's samples, on average, by the first weights of this net, or by
// the first weights of any. Both share one pass.
Tensor mean_lpips(const Ensemble& e, const std::string& net) {
  const Lpips& lpips = *e.options.networks->find_lpips(net);
  return e.once("lpips_" + lpips.net(), [&] { return lpips.mean_distance(e.samples, e.truth); });
}

Metric lpips_metric(const std::string& net, const std::string& label, const std::string& help) {
  return {.name = net.empty() ? "lpips" : "lpips_" + net,
          .label = label,
          .help = help + "; lower is better",
          .needs = {.network = MetricNetwork::lpips, .lpips_net = net},
          .per_image = [net](const Ensemble& e) { return mean_lpips(e, net); }};
}

}  // namespace

EPS_METRICS(30,
            {lpips_metric("",
                          "LPIPS",
                          "learned perceptual distance of a sample, by the first weights given"),
             lpips_metric("alex", "LPIPS-Alex", "LPIPS by AlexNet"),
             lpips_metric("vgg", "LPIPS-VGG", "LPIPS by VGG16"),
             lpips_metric("squeeze", "LPIPS-Squeeze", "LPIPS by SqueezeNet")});

}  // namespace eps
