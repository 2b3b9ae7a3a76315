// The layout of DDPM++, NCSN++ (SongUNet) and ADM (DhariwalUNet), layer by layer.
#include "eps/nets/plan.h"

#include <algorithm>
#include <cmath>

#include "eps/nets/layer_builder.h"
#include "eps/nets/local_layout.h"

namespace eps::nets {
namespace {

using Fill = TensorSpec::Fill;
using Role = TensorSpec::Role;

class Layout {
 public:
  explicit Layout(UNetPlan& plan)
      : plan_(plan), config_(plan.config), song_(config_.is_song()), make_(plan) {}

  void embedding();
  void encoder();
  void decoder();

 private:
  void auxiliary_encoder(const std::string& level);
  void output_head(const std::string& level, bool top, bool bottom);

  std::string level_name(const char* part, int64_t level) const {
    const std::string size = std::to_string(config_.img_resolution >> level);
    return std::string(part) + "." + size + "x" + size;
  }
  bool attends(int64_t level) const {
    const auto& sizes = config_.attn_resolutions;
    return std::count(sizes.begin(), sizes.end(), config_.img_resolution >> level) > 0;
  }

  void block(Step::Kind kind,
             const std::string& name,
             int64_t in,
             int64_t out,
             LayerBuilder::BlockOptions options) {
    plan_.steps.push_back(
        {.kind = kind, .conv = {}, .norm = {}, .block = make_.block(name, in, out, options)});
    channels_ = out;
  }
  void step(Step::Kind kind, ConvLayer layer, NormLayer norm = {}) {
    plan_.steps.push_back({.kind = kind, .conv = layer, .norm = norm, .block = {}});
  }

  UNetPlan& plan_;
  const UNetConfig& config_;
  const bool song_;
  LayerBuilder make_;
  int64_t channels_ = 0;      // channels of the state x at the current step of the layout
  int64_t aux_channels_ = 0;  // channels of the side image
  bool aux_is_input_ = true;  // whether the side image is still the (downsampled) input
  std::vector<int64_t> skips_;
};

void Layout::embedding() {
  const int64_t noise = config_.noise_channels();
  const int64_t width = config_.model_channels * config_.channel_mult_emb;
  check(noise % 2 == 0 && noise >= 4,
        "network config: the noise embedding has ",
        noise,
        " channels; an even number of at least 4 is wanted");
  if (config_.embedding_type == "fourier") {
    plan_.frequencies = make_.tensor({.name = "map_noise.freqs",
                                      .shape = {noise / 2},
                                      .fill = Fill::normal,
                                      .scale = 16,
                                      .is_buffer = true,
                                      .role = Role::embedding});
  }
  if (song_ && config_.label_dim > 0) {
    plan_.map_label = make_.linear("map_label", config_.label_dim, noise, make_.init());
  }
  if (config_.augment_dim > 0) {
    plan_.map_augment = make_.linear("map_augment",
                                     config_.augment_dim,
                                     noise,
                                     song_ ? make_.init() : make_.init_zero(),
                                     /*bias=*/false);
  }
  plan_.map_layer0 = make_.linear("map_layer0", noise, width, make_.init());
  plan_.map_layer1 = make_.linear("map_layer1", width, width, make_.init());
  if (!song_ && config_.label_dim > 0) {
    const double gain = std::sqrt(static_cast<double>(config_.label_dim));
    const Init init{Init::Mode::kaiming_normal, gain, 0};
    plan_.map_label = make_.linear("map_label", config_.label_dim, width, init, /*bias=*/false);
  }
}

void Layout::encoder() {
  for (int64_t level = 0; level < config_.levels(); ++level) {
    const std::string name = level_name("enc", level);
    const int64_t out = config_.model_channels * config_.channel_mult[static_cast<size_t>(level)];
    if (level == 0) {
      channels_ = song_ ? config_.model_channels : out;
      ConvLayer first = make_.conv(name + "_conv", config_.in_channels, channels_, 3, make_.init());
      first.image_inputs = config_.img_channels;
      step(Step::Kind::conv, first);
      aux_channels_ = config_.in_channels;
    } else if (config_.resampling == "block") {
      block(Step::Kind::block, name + "_down", channels_, channels_, {.resample = Resample::down});
      if (song_) auxiliary_encoder(name);
    } else {
      const Resample kind = config_.resampling == "conv" ? Resample::stride : Resample::corner;
      step(Step::Kind::conv, make_.resampler(name + "_down", channels_, kind));
    }
    skips_.push_back(channels_);
    for (int64_t i = 0; i < config_.num_blocks; ++i) {
      const std::string block_name = name + "_block" + std::to_string(i);
      block(Step::Kind::block, block_name, channels_, out, {.attention = attends(level)});
      skips_.push_back(channels_);
    }
  }
}

void Layout::auxiliary_encoder(const std::string& level) {
  const int64_t image_inputs = aux_is_input_ ? config_.img_channels : 0;
  if (config_.encoder_type == "skip") {
    step(Step::Kind::aux_down,
         make_.conv(
             level + "_aux_down", aux_channels_, aux_channels_, 0, make_.init(), Resample::down));
    ConvLayer layer = make_.conv(level + "_aux_skip", aux_channels_, channels_, 1, make_.init());
    layer.image_inputs = image_inputs;
    step(Step::Kind::aux_skip, layer);
  } else if (config_.encoder_type == "residual") {
    ConvLayer layer = make_.conv(
        level + "_aux_residual", aux_channels_, channels_, 3, make_.init(), Resample::down);
    layer.fused = true;
    layer.image_inputs = image_inputs;
    step(Step::Kind::aux_residual, layer);
    aux_channels_ = channels_;
    aux_is_input_ = false;
  }
}

void Layout::decoder() {
  const int64_t last = config_.levels() - 1;
  for (int64_t level = last; level >= 0; --level) {
    const std::string name = level_name("dec", level);
    const int64_t out = config_.model_channels * config_.channel_mult[static_cast<size_t>(level)];
    if (level == last) {
      block(Step::Kind::plain_block, name + "_in0", channels_, channels_, {.attention = true});
      block(Step::Kind::plain_block, name + "_in1", channels_, channels_, {});
    } else if (config_.resampling == "block") {
      block(
          Step::Kind::plain_block, name + "_up", channels_, channels_, {.resample = Resample::up});
    } else {
      step(Step::Kind::plain_conv, make_.resampler(name + "_up", channels_, Resample::up));
    }
    for (int64_t i = 0; i <= config_.num_blocks; ++i) {
      const std::string block_name = name + "_block" + std::to_string(i);
      const bool attention = attends(level) && (!song_ || i == config_.num_blocks);
      const int64_t in = channels_ + skips_.back();
      skips_.pop_back();
      block(Step::Kind::joined_block, block_name, in, out, {.attention = attention});
    }
    output_head(name, level == 0, level == last);
  }
}

void Layout::output_head(const std::string& level, bool top, bool bottom) {
  const bool summed = song_ && config_.decoder_type == "skip";
  if (!top && !summed) return;
  const int64_t out = config_.out_channels;
  if (summed && !bottom) {
    step(Step::Kind::aux_up,
         make_.conv(level + "_aux_up", out, out, 0, make_.init(), Resample::up));
  }
  const NormLayer normed = make_.norm(song_ ? level + "_aux_norm" : "out_norm", channels_);
  step(Step::Kind::head,
       make_.conv(song_ ? level + "_aux_conv" : "out_conv", channels_, out, 3, make_.init_zero()),
       normed);
}

}  // namespace

UNetPlan::UNetPlan(const UNetConfig& network) : config(network) {
  validate(config);
  Layout layout(*this);
  layout.embedding();
  if (config.is_local()) {
    add_local_layout(*this);
    return;
  }
  layout.encoder();
  layout.decoder();
}

UNetPlan UNetPlan::external(const UNetConfig& network) {
  validate(network);
  UNetPlan plan;
  plan.config = network;
  return plan;
}

int64_t UNetPlan::parameter_tensors() const {
  return std::count_if(
      tensors.begin(), tensors.end(), [](const TensorSpec& spec) { return !spec.is_buffer; });
}

int64_t UNetPlan::parameter_count() const {
  int64_t count = 0;
  for (const auto& spec : tensors) count += spec.is_buffer ? 0 : spec.numel();
  return count;
}

}  // namespace eps::nets
