// The U-Net's layers on ATen.
#include "eps/nets/layers.h"

#include <torch/version.h>

#include <array>
#include <cmath>

#include "eps/nets/cuda/fused_cuda.h"
#include "eps/nets/fused.h"
#include "eps/nets/pixel_norm.h"

namespace eps::nets {
namespace {

bool is_narrow(const Tensor& x) {
  return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
}

bool is_box(const std::vector<double>& filter) {
  return filter.size() == 2 && filter[0] == filter[1];
}

// Returns whether to call oneDNN directly: at::conv2d sends small images to a slower kernel that
// does not exploit channels-last memory.
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

// Returns a depthwise filter: the same filter for every channel of x.
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
  // On a CPU the filter runs in float32: in libtorch 1.13 oneDNN's bfloat16 kernel ignores
  // `transposed` for depthwise filters.
  const Tensor h = is_narrow(x) && x.is_cpu() ? x.to(at::kFloat) : x;
  const Tensor filter = per_channel(net.get(layer.filter, h) * 4, h);
  const int64_t pad = (filter.size(3) - 1) / 2;
  return at::conv_transpose2d(h, filter, {}, {2, 2}, {pad, pad}, {0, 0}, h.size(1))
      .to(x.scalar_type());
}

// Convolves the image and the further input channels separately. While the weights of the further
// channels are zero, the output therefore equals that of the network without them to the last bit:
// the sum over the image is the same, and the rest adds exact zeros.
Tensor convolve_split(const Evaluation& net,
                      const ConvLayer& layer,
                      const Tensor& x,
                      const Tensor& weight,
                      const Tensor& bias,
                      int64_t pad,
                      int64_t stride = 1) {
  const int64_t image = layer.image_inputs;
  if (image == 0 || image == x.size(1)) return correlate(net, x, weight, bias, pad, stride);
  const auto part = [&](const Tensor& all, int64_t begin, int64_t end) {
    return all.slice(1, begin, end).contiguous(all.suggest_memory_format());
  };
  const int64_t all = x.size(1);
  return correlate(net, part(x, 0, image), part(weight, 0, image), bias, pad, stride) +
         correlate(net, part(x, image, all), part(weight, image, all), {}, pad, stride);
}

// A `Biased` holds an image and a bias (C), possibly undefined, that is not yet added: on CUDA a
// convolution leaves its bias to the next kernel, which saves a pass over the image.
struct Biased {
  Tensor image;
  Tensor bias = {};
};

Tensor sum_of(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return a + b;
}

// Returns (h + x) * skip_scale; h is the output of a convolution, so it may be overwritten.
Tensor add_residual(const Evaluation& net, const Biased& h, const Biased& x) {
  if (can_fuse_on_cuda(h.image) && can_fuse_on_cuda(x.image)) {
    return cuda_residual(h.image, x.image, sum_of(h.bias, x.bias), net.plan.skip_scale);
  }
  const auto whole = [](const Biased& part) {
    if (!part.bias.defined()) return part.image;
    return part.image + part.bias.to(part.image.scalar_type()).unsqueeze(1).unsqueeze(2);
  };
  const Tensor sum = whole(h), other = whole(x);
  if (net.gradients || !can_fuse(sum) || !can_fuse(other)) {
    const Tensor all = sum + other;
    return net.plan.skip_scale == 1 ? all : all * net.plan.skip_scale;
  }
  fused_residual(sum, other, net.plan.skip_scale);
  return sum;
}

// Returns the probability with which dropout keeps an element.
double kept_share(const Evaluation& net) {
  return net.training.defined() ? 1 - net.plan.config.dropout : 1;
}

Tensor drop(const Tensor& h, double keep, const at::Generator& generator) {
  return h * at::empty_like(h).bernoulli_(keep, generator).div_(keep);
}

// Returns softmax(q k' / sqrt(d)) v over the last two dimensions, with the softmax in float32.
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

// Returns images (N, 4 C, H, W) as (N, C, 2 H, 2 W): the channels are those of the upper left
// pixels, then of the upper right, the lower left and the lower right ones.
Tensor split_pixels(const Tensor& x) {
  const int64_t n = x.size(0), c = x.size(1) / 4, height = x.size(2), width = x.size(3);
  return x.permute({0, 2, 3, 1})
      .reshape({n, height, width, 2, 2, c})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({n, 2 * height, 2 * width, c})
      .permute({0, 3, 1, 2});
}

Tensor convolve_with(const Evaluation& net,
                     const ConvLayer& layer,
                     const Tensor& x,
                     const Tensor& bias) {
  const Tensor weight = net.get(layer.weight, x);
  const int64_t pad = layer.kernel / 2;
  if (layer.resample == Resample::merge)
    return convolve_split(net, layer, x, weight, bias, 0, /*stride=*/2);
  if (layer.resample == Resample::stride) return correlate(net, x, weight, bias, pad, 2);
  if (layer.resample == Resample::corner)
    return correlate(net, at::constant_pad_nd(x, {0, 1, 0, 1}), weight, bias, 0, 2);
  if (layer.resample == Resample::split) return split_pixels(correlate(net, x, weight, bias, pad));
  if (layer.fused) {
    const Tensor filter = net.get(layer.filter, x);
    const int64_t filter_pad = (filter.size(3) - 1) / 2;
    const Tensor h = convolve_split(net, layer, x, weight, {}, pad + filter_pad);
    return correlate(net, h, per_channel(filter, h), bias, 0, 2, h.size(1));
  }
  // Repeating pixels and a 1 x 1 convolution commute; the convolution of the smaller image is
  // cheaper.
  const bool repeats = layer.resample == Resample::up && is_box(net.plan.config.resample_filter);
  if (repeats && layer.kernel == 1 && x.is_cuda()) {
    return upsample(net, layer, correlate(net, x, weight, bias, 0));
  }
  Tensor h = x;
  if (layer.resample == Resample::down) h = downsample(net, layer, h);
  if (layer.resample == Resample::up) h = upsample(net, layer, h);
  return layer.kernel > 0 ? convolve_split(net, layer, h, weight, bias, pad) : h;
}

// Returns the convolution, with its bias left to the next kernel where possible.
Biased convolve_biased(const Evaluation& net, const ConvLayer& layer, const Tensor& x) {
  if (!can_fuse_on_cuda(x)) return {convolve(net, layer, x)};
  return {convolve_with(net, layer, x, {}), net.get(layer.bias)};
}

// Returns x over its root mean square over the channels of each pixel, times the slope, plus the
// intercept, (N or 1, C), then silu or nothing.
Tensor plain_pixel_norm(
    const Tensor& x, const Tensor& slope, const Tensor& intercept, double eps, bool silu) {
  const auto per_image = [&](const Tensor& table) {
    return table.to(x.scalar_type()).unsqueeze(2).unsqueeze(3);
  };
  const Tensor scale = (x.square().mean(1, /*keepdim=*/true) + eps).rsqrt();
  const Tensor h = at::addcmul(per_image(intercept), x * scale, per_image(slope));
  return silu ? at::silu(h) : h;
}

// Normalises the channels of each pixel, without dropout.
Tensor normalise_pixels(const Evaluation& net,
                        const NormLayer& layer,
                        const Tensor& image,
                        const NormOptions& options) {
  const auto wide = image.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Tensor x = image;
  if (options.offset.defined())
    x = x + options.offset.to(x.scalar_type()).unsqueeze(2).unsqueeze(3);
  Tensor slope = net.get(layer.weight, x).to(wide).unsqueeze(0);
  Tensor intercept = net.get(layer.bias, x).to(wide).unsqueeze(0);
  if (options.modulation.defined()) {
    const auto scale_shift = options.modulation.to(wide).chunk(2, 1);
    const Tensor scale = scale_shift[0] + 1;
    slope = slope * scale;
    intercept = at::addcmul(scale_shift[1], intercept, scale);
  }
  if (can_fuse(x)) return pixel_norm(x, slope, intercept, layer.eps, options.silu);
  return plain_pixel_norm(x.to(wide), slope, intercept, layer.eps, options.silu)
      .to(x.scalar_type());
}

// Normalises with ATen, without dropout.
Tensor plain_norm(const Evaluation& net,
                  const NormLayer& layer,
                  const Tensor& x,
                  const NormOptions& options) {
  const auto per_image = [&](const Tensor& table) {
    return table.to(x.scalar_type()).unsqueeze(2).unsqueeze(3);
  };
  Tensor h = options.offset.defined() ? x + per_image(options.offset) : x;
  // Statistics are in float32: CUDA's kernel does so by itself, the CPU's needs float32 input.
  if (is_narrow(x) && x.is_cpu()) h = h.to(at::kFloat);
  const Tensor weight = net.get(layer.weight, h), bias = net.get(layer.bias, h);
  h = at::group_norm(h, layer.groups, weight, bias, layer.eps).to(x.scalar_type());
  if (options.modulation.defined()) {
    const auto scale_shift = per_image(options.modulation).chunk(2, 1);
    h = at::addcmul(scale_shift[1], h, scale_shift[0] + 1);
  }
  return options.silu ? at::silu(h) : h;
}

// Computes attention on channels-last pixels on CUDA, where an image is a matrix with a row for
// each pixel and its 1 x 1 convolutions are matrix products. Fused attention requires contiguous
// vectors: the rows of the weight are permuted so that q, k and v of each head are contiguous.
Tensor attend_on_rows(const Evaluation& net, const AttentionLayer& layer, const Tensor& x) {
  const int64_t n = x.size(0), c = x.size(1), height = x.size(2), width = x.size(3);
  const int64_t heads = layer.heads, rows = height * width;
  const auto q_k_v = [&](const Tensor& parameter) {  // from (heads, C / heads, 3) to (3, C)
    return parameter.reshape({heads, c / heads, 3, -1}).permute({2, 0, 1, 3});
  };
  const Tensor h = group_normalise(net, layer.norm2, x);
  const Tensor mixed = at::linear(h.permute({0, 2, 3, 1}).reshape({n, rows, c}),
                                  q_k_v(net.get(layer.qkv.weight, x)).reshape({3 * c, c}),
                                  q_k_v(net.get(layer.qkv.bias, x)).reshape({3 * c}));
  const auto parts = mixed.reshape({n, rows, 3, heads, c / heads}).unbind(2);
  const auto part = [&](size_t j) { return parts[j].transpose(1, 2); };
  const Tensor answer = attention(part(0), part(1), part(2));  // (N, heads, HW, C / heads)
  const Tensor image = at::linear(answer.transpose(1, 2).reshape({n, rows, c}),
                                  net.get(layer.proj.weight, x).reshape({c, c}))
                           .reshape({n, height, width, c})
                           .permute({0, 3, 1, 2});
  return add_residual(net, {image, net.get(layer.proj.bias)}, {x});
}

}  // namespace

Tensor Evaluation::get(int64_t index) const {
  return index == kAbsent ? Tensor() : tensors[static_cast<size_t>(index)];
}

Tensor Evaluation::get(int64_t index, const Tensor& x) const {
  if (index == kAbsent) return {};
  const Tensor& tensor = tensors[static_cast<size_t>(index)];
  return tensor.scalar_type() == x.scalar_type() ? tensor : tensor.to(x.scalar_type());
}

Tensor convolve(const Evaluation& net, const ConvLayer& layer, const Tensor& x) {
  return convolve_with(net, layer, x, net.get(layer.bias, x));
}

Tensor map_linear(const Evaluation& net, const LinearLayer& layer, const Tensor& x) {
  return at::linear(x, net.get(layer.weight, x), net.get(layer.bias, x));
}

Tensor group_normalise(const Evaluation& net,
                       const NormLayer& layer,
                       const Tensor& x,
                       const NormOptions& options) {
  FusedNorm norm{.groups = layer.groups,
                 .eps = layer.eps,
                 .weight = net.get(layer.weight),
                 .bias = net.get(layer.bias),
                 .offset = options.offset,
                 .modulation = options.modulation,
                 .silu = options.silu};
  const double keep = options.dropout ? kept_share(net) : 1;
  const bool has_kernel = layer.groups > 0 || x.size(1) <= kWidestPixelNorm;
  if (has_kernel && can_fuse_on_cuda(x)) return cuda_norm(norm, x, {keep, net.training});
  Tensor h;
  if (layer.groups == 0) {
    h = normalise_pixels(net, layer, x, options);
  } else if (!net.gradients && can_fuse(x)) {
    norm.weight = net.get(layer.weight, x);
    norm.bias = net.get(layer.bias, x);
    h = fused_norm(norm, x);
  } else {
    h = plain_norm(net, layer, x, options);
  }
  return keep < 1 ? drop(h, keep, net.training) : h;
}

Tensor attend(const Evaluation& net, const AttentionLayer& layer, const Tensor& x) {
  if (can_fuse_on_cuda(x)) return attend_on_rows(net, layer, x);
  const int64_t n = x.size(0), c = x.size(1), height = x.size(2), width = x.size(3);
  const int64_t heads = layer.heads;
  const Tensor mixed = convolve(net, layer.qkv, group_normalise(net, layer.norm2, x));
  // Output channel ((head * (C / heads) + c) * 3 + j) holds q, k, v for j = 0, 1, 2. Where channels
  // come first, one copy makes each of q, k and v contiguous, as fused attention requires.
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
  return add_residual(net, {convolve(net, layer.proj, image)}, {x});
}

Tensor apply_block(const Evaluation& net,
                   const BlockLayer& layer,
                   const Tensor& x,
                   const Tensor& embedding) {
  Biased h =
      convolve_biased(net, layer.conv0, group_normalise(net, layer.norm0, x, {.silu = true}));
  const Tensor parameters = map_linear(net, layer.affine, embedding);
  NormOptions options{.silu = true, .dropout = true};
  if (h.bias.defined()) options.offset = h.bias.unsqueeze(0);
  if (net.plan.adaptive_scale) {
    options.modulation = parameters;
  } else {
    options.offset = sum_of(parameters, options.offset);
  }
  h = convolve_biased(net, layer.conv1, group_normalise(net, layer.norm1, h.image, options));
  const Tensor sum =
      add_residual(net, h, layer.skip ? convolve_biased(net, *layer.skip, x) : Biased{x});
  return layer.attention ? attend(net, *layer.attention, sum) : sum;
}

}  // namespace eps::nets
