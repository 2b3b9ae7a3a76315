// The embedding of the noise level, the class and the augmentation.
#include <cmath>
#include <numbers>

#include "eps/nets/layers.h"

namespace eps::nets {
namespace {

Tensor frequencies(const Evaluation& net, const at::TensorOptions& options) {
  const UNetConfig& config = net.plan.config;
  if (net.plan.frequencies != kAbsent) {
    return net.tensors[static_cast<size_t>(net.plan.frequencies)].to(options) *
           (2 * std::numbers::pi);
  }
  const int64_t half = config.noise_channels() / 2;
  const auto last = static_cast<double>(half - (config.is_song() ? 1 : config.frequency_shift));
  return at::pow(1.0 / 10000, at::arange(half, options) / last);
}

Tensor noise_embedding(const Evaluation& net, const Tensor& noise_labels) {
  const Tensor angle = at::outer(noise_labels, frequencies(net, noise_labels.options()));
  const Tensor cosine = angle.cos();
  const Tensor sine = angle.sin();
  const bool sine_first = net.plan.config.is_song() || net.plan.config.sine_first;
  return sine_first ? at::cat({sine, cosine}, 1) : at::cat({cosine, sine}, 1);
}

// Returns the class labels, where zeros stand for "no class"; label dropout in training replaces
// classes by zeros.
Tensor class_vector(const Evaluation& net, const Tensor& labels, const Tensor& like) {
  const UNetConfig& config = net.plan.config;
  if (!labels.defined()) return at::zeros({1, config.label_dim}, like.options());
  const Tensor classes = labels.to(like.options());
  if (!net.training.defined() || config.label_dropout == 0) return classes;
  const Tensor kept = at::empty({classes.size(0), 1}, like.options());
  kept.bernoulli_(1 - config.label_dropout, net.training);
  return classes * kept;
}

}  // namespace

Tensor embed(const Evaluation& net,
             const Tensor& noise_labels,
             const Tensor& class_labels,
             const Tensor& augment_labels) {
  const UNetPlan& plan = net.plan;
  const bool song = plan.config.is_song();
  Tensor h = noise_embedding(net, noise_labels);
  if (song && plan.map_label) {
    const double scale = std::sqrt(static_cast<double>(plan.config.label_dim));
    h = h + map_linear(net, plan.map_label, class_vector(net, class_labels, h) * scale);
  }
  if (plan.map_augment && augment_labels.defined()) {
    h = h + map_linear(net, plan.map_augment, augment_labels.to(h.options()));
  }
  h = map_linear(net, plan.map_layer1, at::silu(map_linear(net, plan.map_layer0, h)));
  if (!song && plan.map_label) {
    h = h + map_linear(net, plan.map_label, class_vector(net, class_labels, h));
  }
  return at::silu(h);
}

}  // namespace eps::nets
