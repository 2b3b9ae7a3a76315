// The configuration of the U-Net, under the keyword names of EDM's networks (Karras et al. 2022).
//
// A LocalUNet is our own, for pictures of any size: no attention, and a norm over the channels of
// each pixel, so that an output depends on the inputs near it only. It has as many residual blocks
// on the way down as on the way up; 2 x 2 pixels become one and one becomes 2 x 2 between its
// levels, and the state of a level is added on the way up. With patches of 2 x 2 its first layer
// merges pixels and its last one splits them, so that the finest level is cheap on a CPU.
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

struct UNetConfig {
  std::string model_type = "SongUNet";  // or "DhariwalUNet", "LocalUNet"
  // Part of the tensors' names; other sizes are allowed. Of a LocalUNet: the side it was trained
  // on.
  int64_t img_resolution = 64;
  int64_t img_channels = 3;
  int64_t in_channels = 3;   // the image, then in_channels - img_channels further channels
  int64_t out_channels = 3;  // img_channels, or twice that with a predicted variance
  int64_t label_dim = 0;     // 0: unconditional
  int64_t augment_dim = 0;   // 0: no augmentation labels
  int64_t model_channels = 128;
  std::vector<int64_t> channel_mult = {1, 2, 2, 2};  // one entry per resolution level
  int64_t channel_mult_emb = 4;
  int64_t channel_mult_noise = 1;  // not of a LocalUNet
  int64_t num_blocks = 4;
  std::vector<int64_t> attn_resolutions = {16};
  double dropout = 0.10;
  double label_dropout = 0;

  // The following fields apply to SongUNet only.
  std::string embedding_type = "positional";  // or "fourier"
  std::string encoder_type = "standard";      // or "skip", "residual"
  std::string decoder_type = "standard";      // or "skip"
  std::vector<double> resample_filter = {1, 1};

  // The following fields apply to DhariwalUNet only: what others than EDM train differs in these.
  int64_t num_heads = 0;       // heads of attention of every level; 0: by head_channels
  int64_t head_channels = 64;  // channels of one head
  bool scale_shift = true;     // the embedding scales and shifts a norm, or is added before it
  std::string resampling = "block";  // or "conv", "corner": see Resample::stride
  int64_t norm_groups = 0;           // 0: EDM's 32, or fewer of at least 4 channels
  double norm_eps = 1e-5;
  int64_t frequency_shift = 0;  // 1: the last frequency of the noise embedding is 1/10000
  bool sine_first = false;      // in the noise embedding

  // The following fields apply to LocalUNet only.
  std::string norm = "pixel";  // "group" sees the whole image
  int64_t patch = 1;  // side of the squares of pixels that the finest level has as one: 1 or 2

  bool is_local() const { return model_type == "LocalUNet"; }
  bool is_song() const { return model_type == "SongUNet"; }
  bool is_adm() const { return model_type == "DhariwalUNet"; }
  int64_t noise_channels() const { return model_channels * channel_mult_noise; }
  int64_t levels() const { return static_cast<int64_t>(channel_mult.size()); }
  // Returns the factor between pixels and the coarsest level, which divides the image's sides.
  int64_t divisor() const { return patch << (levels() - 1); }
  bool operator==(const UNetConfig&) const = default;
};

// Returns the configuration of one of EDM's architectures, "ddpmpp", "ncsnpp", "adm", of its public
// networks, "ffhq64", "imagenet64", or of a LocalUNet, "local".
UNetConfig unet_preset(const std::string& name);
std::vector<std::string> unet_presets();

// Throws an Error that names the first invalid field.
void validate(const UNetConfig& config);

// Returns JSON text with the field names above. In parse_unet_config() an absent field has EDM's
// default for the architecture, in_channels and out_channels default to img_channels, and an
// unknown field is an Error.
std::string to_json(const UNetConfig& config);
UNetConfig parse_unet_config(const std::string& json);

}  // namespace eps::nets
