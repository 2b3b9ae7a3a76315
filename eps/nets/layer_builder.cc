// The layers of EDM's networks, with EDM's initial values.
#include "eps/nets/layer_builder.h"

#include <algorithm>
#include <cmath>

namespace eps::nets {

using Fill = TensorSpec::Fill;
using Role = TensorSpec::Role;

Fill Init::fill() const { return mode == Mode::kaiming_normal ? Fill::normal : Fill::uniform; }

double Init::bound(int64_t fan_in, int64_t fan_out) const {
  const auto in = static_cast<double>(fan_in);
  const auto out = static_cast<double>(fan_out);
  if (mode == Mode::xavier_uniform) return std::sqrt(6 / (in + out));
  return std::sqrt((mode == Mode::kaiming_uniform ? 3 : 1) / in);
}

LayerBuilder::LayerBuilder(UNetPlan& plan) : plan_(plan), song_(plan.config.is_song()) {
  const auto uniform = song_ ? Init::Mode::xavier_uniform : Init::Mode::kaiming_uniform;
  const double gain = song_ ? 1 : std::sqrt(1.0 / 3);
  init_ = {uniform, gain, song_ ? 0 : gain};
  init_zero_ = {uniform, song_ ? 1e-5 : 0, 0};
  init_attention_ = song_ ? Init{uniform, std::sqrt(0.2), 0} : init_;
  plan_.adaptive_scale = !song_ && plan.config.scale_shift;
  plan_.skip_scale = song_ ? std::sqrt(0.5) : 1;
}

int64_t LayerBuilder::tensor(TensorSpec spec) {
  plan_.tensors.push_back(std::move(spec));
  return std::ssize(plan_.tensors) - 1;
}

LinearLayer LayerBuilder::linear(
    const std::string& name, int64_t in, int64_t out, Init init, bool bias) {
  const double bound = init.bound(in, out);
  LinearLayer layer;
  layer.weight = tensor({.name = name + ".weight",
                         .shape = {out, in},
                         .fill = init.fill(),
                         .scale = init.weight * bound,
                         .role = Role::embedding});
  if (bias) {
    layer.bias = tensor({.name = name + ".bias",
                         .shape = {out},
                         .fill = init.fill(),
                         .scale = init.bias * bound,
                         .role = Role::embedding});
  }
  return layer;
}

NormLayer LayerBuilder::norm(const std::string& name, int64_t channels) {
  const bool of_pixels = plan_.config.is_local() && plan_.config.norm == "pixel";
  const int64_t usual = std::min<int64_t>(32, channels / 4), own = plan_.config.norm_groups;
  const int64_t groups = of_pixels ? 0 : own > 0 ? own : usual;
  check(of_pixels || (groups > 0 && channels % groups == 0),
        "network config: ",
        name,
        " has ",
        channels,
        " channels, which do not fall into ",
        std::max<int64_t>(groups, 1),
        own > 0 ? " equal groups" : " equal groups of at least 4");
  NormLayer layer{.groups = groups, .eps = song_ ? 1e-6 : plan_.config.norm_eps};
  layer.weight = tensor({.name = name + ".weight", .shape = {channels}, .scale = 1});
  layer.bias = tensor({.name = name + ".bias", .shape = {channels}});
  return layer;
}

ConvLayer LayerBuilder::conv(const std::string& name,
                             int64_t in,
                             int64_t out,
                             int64_t kernel,
                             Init init,
                             Resample resample) {
  ConvLayer layer{.kernel = kernel, .resample = resample};
  if (kernel > 0) {
    const double bound = init.bound(in * kernel * kernel, out * kernel * kernel);
    layer.weight = tensor({.name = name + ".weight",
                           .shape = {out, in, kernel, kernel},
                           .fill = init.fill(),
                           .scale = init.weight * bound});
    layer.bias = tensor(
        {.name = name + ".bias", .shape = {out}, .fill = init.fill(), .scale = init.bias * bound});
  }
  if (resample != Resample::none) {
    const auto taps = std::ssize(plan_.config.resample_filter);
    layer.filter = tensor({.name = name + ".resample_filter",
                           .shape = {1, 1, taps, taps},
                           .fill = Fill::filter,
                           .is_buffer = true});
  }
  return layer;
}

ConvLayer LayerBuilder::merge(const std::string& name, int64_t in, int64_t out) {
  ConvLayer layer = conv(name, in, out, 2, init_);
  layer.resample = Resample::merge;
  return layer;
}

ConvLayer LayerBuilder::split(const std::string& name, int64_t in, int64_t out) {
  ConvLayer layer = conv(name, in, 4 * out, 1, init_);
  layer.resample = Resample::split;
  return layer;
}

ConvLayer LayerBuilder::resampler(const std::string& name, int64_t channels, Resample resample) {
  ConvLayer layer = conv(name, channels, channels, 3, init_);
  layer.resample = resample;
  return layer;
}

BlockLayer LayerBuilder::block(const std::string& name,
                               int64_t in,
                               int64_t out,
                               BlockOptions options) {
  const int64_t width = plan_.config.model_channels * plan_.config.channel_mult_emb;
  const bool resampled = options.resample != Resample::none;
  BlockLayer layer;
  layer.norm0 = norm(name + ".norm0", in);
  layer.conv0 = conv(name + ".conv0", in, out, 3, init_, options.resample);
  layer.affine = linear(name + ".affine", width, out * (plan_.adaptive_scale ? 2 : 1), init_);
  layer.norm1 = norm(name + ".norm1", out);
  layer.conv1 = conv(name + ".conv1", out, out, 3, init_zero_);
  if (in != out || resampled) {
    const bool projects = in != out || song_;
    layer.skip = conv(name + ".skip", in, out, projects ? 1 : 0, init_, options.resample);
  }
  if (options.attention) layer.attention = attention(name, out);
  return layer;
}

AttentionLayer LayerBuilder::attention(const std::string& name, int64_t channels) {
  AttentionLayer layer;
  const UNetConfig& config = plan_.config;
  const bool counted = config.num_heads > 0;
  layer.heads = song_ ? 1 : counted ? config.num_heads : channels / config.head_channels;
  check(layer.heads > 0 && channels % layer.heads == 0,
        "network config: ",
        name,
        " attends with ",
        channels,
        " channels; a multiple of ",
        counted ? config.num_heads : config.head_channels,
        " is wanted");
  layer.norm2 = norm(name + ".norm2", channels);
  layer.qkv = conv(name + ".qkv", channels, 3 * channels, 1, init_attention_);
  layer.proj = conv(name + ".proj", channels, channels, 1, init_zero_);
  return layer;
}

}  // namespace eps::nets
