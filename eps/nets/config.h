// The configuration of the U-Net, under the keyword names of EDM's networks (Karras et al. 2022).
#pragma once

#include "eps/base/core.h"

namespace eps::nets {

struct UNetConfig {
  std::string model_type = "SongUNet";  // or "DhariwalUNet"
  int64_t img_resolution = 64;          // part of the tensors' names; other sizes are allowed
  int64_t img_channels = 3;
  int64_t in_channels = 3;   // the image, then in_channels - img_channels further channels
  int64_t out_channels = 3;  // img_channels, or twice that with a predicted variance
  int64_t label_dim = 0;     // 0: unconditional
  int64_t augment_dim = 0;   // 0: no augmentation labels
  int64_t model_channels = 128;
  std::vector<int64_t> channel_mult = {1, 2, 2, 2};  // one entry per resolution level
  int64_t channel_mult_emb = 4;
  int64_t num_blocks = 4;
  std::vector<int64_t> attn_resolutions = {16};
  double dropout = 0.10;
  double label_dropout = 0;

  // The following fields apply to SongUNet only.
  std::string embedding_type = "positional";  // or "fourier"
  int64_t channel_mult_noise = 1;
  std::string encoder_type = "standard";  // or "skip", "residual"
  std::string decoder_type = "standard";  // or "skip"
  std::vector<double> resample_filter = {1, 1};

  bool is_song() const { return model_type == "SongUNet"; }
  int64_t noise_channels() const { return model_channels * channel_mult_noise; }
  int64_t levels() const { return static_cast<int64_t>(channel_mult.size()); }
  bool operator==(const UNetConfig&) const = default;
};

// Returns the configuration of one of EDM's architectures, "ddpmpp", "ncsnpp", "adm", or of its
// public networks, "ffhq64", "imagenet64".
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
