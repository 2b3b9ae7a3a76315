// The U-Net's layers on ATen.
#include "eps/nets/layers.h"

#include <torch/version.h>

#include <array>
#include <cmath>
#include <numbers>

#include "eps/nets/fused.h"

namespace eps {
namespace {

bool is_narrow(const Tensor& x) {
  return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
}

bool is_box(const std::vector<double>& filter) {
  return filter.size() == 2 && filter[0] == filter[1];
}

// at::conv2d leaves small images to a slower kernel that has no use for channels-last memory.
bool prefers_onednn(const Evaluation& net, const Tensor& x) {
  return !net.gradients && x.is_cpu() && x.scalar_type() == at::kFloat && at::hasMKLDNN();
}

Tensor correlate(const Evaluation& net,
                 const Tensor& x,
                 const Tensor& weight,
                 const Tensor& bias,
                 int64_t pad,
                 int64_t stride = 1,
                 int64_t groups = 1) {
  const auto both = [](const int64_t& n) { return std::array{n, n}; };
  if (prefers_onednn(net, x)) {
    return at::mkldnn_convolution(x, weight, bias, both(pad), both(stride), both(1), groups);
  }
  return at::convolution(
      x, weight, bias, both(stride), both(pad), both(1), /*transposed=*/false, both(0), groups);
}

// One filter for every channel of x.
Tensor per_channel(const Tensor& filter, const Tensor& x) {
  return filter.expand({x.size(1), 1, filter.size(2), filter.size(3)}).contiguous();
}

Tensor downsample(const Evaluation& net, const ConvLayer& layer, const Tensor& x) {
  if (is_box(net.plan.config.resample_filter)) return at::avg_pool2d(x, {2, 2});
  const Tensor filter = per_channel(net.get(layer.filter, x), x);
  const int64_t pad = (filter.size(3) - 1) / 2;
  return correlate(net, x, filter, {}, pad, 2, x.size(1));
}

Tensor upsample(const Evaluation& net, const ConvLayer& layer, const Tensor& x) {
  if (is_box(net.plan.config.resample_filter)) {
    return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
  }
  // In float32 on a CPU: in libtorch 1.13 oneDNN's bfloat16 kernel ignores `transposed` for
  // depthwise filters.
  const Tensor h = is_narrow(x) && x.is_cpu() ? x.to(at::kFloat) : x;
  const Tensor filter = per_channel(net.get(layer.filter, h) * 4, h);
  const int64_t pad = (filter.size(3) - 1) / 2;
  return at::conv_transpose2d(h, filter, {}, {2, 2}, {pad, pad}, {0, 0}, h.size(1))
      .to(x.scalar_type());
}

// A network that was given further input channels answers as before, to the last bit, while their
// weights are zero: the image's part is the sum it always was, and the rest adds exact zeros.
Tensor convolve_split(const Evaluation& net,
                      const ConvLayer& layer,
                      const Tensor& x,
                      const Tensor& weight,
                      const Tensor& bias,
                      int64_t pad) {
  const int64_t image = layer.image_inputs;
  if (image == 0 || image == x.size(1)) return correlate(net, x, weight, bias, pad);
  const auto part = [&](const Tensor& all, int64_t begin, int64_t end) {
    return all.slice(1, begin, end).contiguous(all.suggest_memory_format());
  };
  const int64_t all = x.size(1);
  return correlate(net, part(x, 0, image), part(weight, 0, image), bias, pad) +
         correlate(net, part(x, image, all), part(weight, image, all), {}, pad);
}

// (h + x) * skip_scale; h is a convolution's answer, so it may be overwritten.
Tensor add_residual(const Evaluation& net, const Tensor& h, const Tensor& x) {
  if (net.gradients || !can_fuse(h) || !can_fuse(x)) return (h + x) * net.plan.skip_scale;
  fused_residual(h, x, net.plan.skip_scale);
  return h;
}

Tensor drop(const Evaluation& net, const Tensor& h) {
  const double keep = 1 - net.plan.config.dropout;
  if (!net.training.defined() || keep == 1) return h;
  return h * at::empty_like(h).bernoulli_(keep, net.training).div_(keep);
}

// softmax(q k' / sqrt(d)) v over the last two dimensions, the softmax in float32.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
#if TORCH_VERSION_MAJOR >= 2
  return at::scaled_dot_product_attention(q, k, v);
#else
  const auto wide = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor scores = at::matmul(q.to(wide), k.to(wide).transpose(-2, -1) * scale);
  return at::matmul(at::softmax(scores, -1).to(q.scalar_type()), v);
#endif
}

Tensor frequencies(const Evaluation& net, const at::TensorOptions& options) {
  const UNetConfig& config = net.plan.config;
  if (net.plan.frequencies != kAbsent) {
    return net.tensors[static_cast<size_t>(net.plan.frequencies)].to(options) *
           (2 * std::numbers::pi);
  }
  const bool song = config.is_song();
  const int64_t half = config.model_channels * (song ? config.channel_mult_noise : 1) / 2;
  const auto last = static_cast<double>(half - (song ? 1 : 0));
  return at::pow(1.0 / 10000, at::arange(half, options) / last);
}

Tensor noise_embedding(const Evaluation& net, const Tensor& noise_labels) {
  const Tensor angle = at::outer(noise_labels, frequencies(net, noise_labels.options()));
  const Tensor cosine = angle.cos();
  const Tensor sine = angle.sin();
  return net.plan.config.is_song() ? at::cat({sine, cosine}, 1) : at::cat({cosine, sine}, 1);
}

// Zeros stand for "no class"; label dropout puts them in place of a class while training.
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

Tensor Evaluation::get(int64_t index, const Tensor& x) const {
  if (index == kAbsent) return {};
  const Tensor& tensor = tensors[static_cast<size_t>(index)];
  return tensor.scalar_type() == x.scalar_type() ? tensor : tensor.to(x.scalar_type());
}

Tensor convolve(const Evaluation& net, const ConvLayer& layer, const Tensor& x) {
  const Tensor weight = net.get(layer.weight, x);
  const Tensor bias = net.get(layer.bias, x);
  const int64_t pad = layer.kernel / 2;
  if (layer.fused) {
    const Tensor filter = net.get(layer.filter, x);
    const int64_t filter_pad = (filter.size(3) - 1) / 2;
    const Tensor h = convolve_split(net, layer, x, weight, {}, pad + filter_pad);
    return correlate(net, h, per_channel(filter, h), bias, 0, 2, h.size(1));
  }
  Tensor h = x;
  if (layer.resample == Resample::down) h = downsample(net, layer, h);
  if (layer.resample == Resample::up) h = upsample(net, layer, h);
  return layer.kernel > 0 ? convolve_split(net, layer, h, weight, bias, pad) : h;
}

Tensor map_linear(const Evaluation& net, const LinearLayer& layer, const Tensor& x) {
  return at::linear(x, net.get(layer.weight, x), net.get(layer.bias, x));
}

Tensor group_normalise(const Evaluation& net,
                       const NormLayer& layer,
                       const Tensor& x,
                       const NormOptions& options) {
  if (!net.gradients && can_fuse(x)) {
    return fused_norm({.groups = layer.groups,
                       .eps = layer.eps,
                       .weight = net.get(layer.weight, x),
                       .bias = net.get(layer.bias, x),
                       .offset = options.offset,
                       .modulation = options.modulation,
                       .silu = options.silu},
                      x);
  }
  const auto per_image = [&](const Tensor& table) {
    return table.to(x.scalar_type()).unsqueeze(2).unsqueeze(3);
  };
  Tensor h = options.offset.defined() ? x + per_image(options.offset) : x;
  // Statistics in float32: CUDA's kernel keeps them so by itself, the CPU's must be asked.
  if (is_narrow(x) && x.is_cpu()) h = h.to(at::kFloat);
  h = at::group_norm(h, layer.groups, net.get(layer.weight, h), net.get(layer.bias, h), layer.eps)
          .to(x.scalar_type());
  if (options.modulation.defined()) {
    const auto scale_shift = per_image(options.modulation).chunk(2, 1);
    h = at::addcmul(scale_shift[1], h, scale_shift[0] + 1);
  }
  return options.silu ? at::silu(h) : h;
}

Tensor attend(const Evaluation& net, const AttentionLayer& layer, const Tensor& x) {
  const int64_t n = x.size(0), c = x.size(1), height = x.size(2), width = x.size(3);
  const int64_t heads = layer.heads;
  const Tensor mixed = convolve(net, layer.qkv, group_normalise(net, layer.norm2, x));
  // Output channel ((head * (C / heads) + c) * 3 + j) holds q, k, v for j = 0, 1, 2. Where channels
  // come first, one copy brings each of them together: fused attention takes no strided vectors.
  const bool channels_first = mixed.is_contiguous();
  const Tensor qkv = channels_first ? mixed.reshape({n, heads, c / heads, 3, height * width})
                                          .permute({3, 0, 1, 4, 2})
                                          .contiguous()
                                    : mixed.permute({0, 2, 3, 1})
                                          .reshape({n, height * width, heads, c / heads, 3})
                                          .permute({4, 0, 2, 1, 3});
  const Tensor answer = attention(qkv[0], qkv[1], qkv[2]);  // (N, heads, HW, C / heads)
  const Tensor image =
      channels_first ? answer.transpose(2, 3).reshape({n, c, height, width})
                     : answer.transpose(1, 2).reshape({n, height, width, c}).permute({0, 3, 1, 2});
  return add_residual(net, convolve(net, layer.proj, image), x);
}

Tensor apply_block(const Evaluation& net,
                   const BlockLayer& layer,
                   const Tensor& x,
                   const Tensor& embedding) {
  Tensor h = convolve(net, layer.conv0, group_normalise(net, layer.norm0, x, {.silu = true}));
  const Tensor parameters = map_linear(net, layer.affine, embedding);
  const NormOptions options = net.plan.adaptive_scale
                                  ? NormOptions{.modulation = parameters, .silu = true}
                                  : NormOptions{.offset = parameters, .silu = true};
  h = drop(net, group_normalise(net, layer.norm1, h, options));
  h = add_residual(
      net, convolve(net, layer.conv1, h), layer.skip ? convolve(net, *layer.skip, x) : x);
  return layer.attention ? attend(net, *layer.attention, h) : h;
}

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

}  // namespace eps
