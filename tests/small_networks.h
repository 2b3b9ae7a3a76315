// Small networks of every kind; each uses a part of the U-Net that no other network uses.
#pragma once

#include "tests/wave_network.h"

namespace eps {

inline nets::UNetConfig small_ddpmpp() {
  nets::UNetConfig config;
  config.img_resolution = 8;
  config.augment_dim = 9;
  config.model_channels = 8;
  config.channel_mult = {1, 2, 2};
  config.num_blocks = 2;
  config.attn_resolutions = {4};
  return config;
}

inline nets::UNetConfig small_ncsnpp() {
  nets::UNetConfig config = small_ddpmpp();
  config.augment_dim = 0;
  config.channel_mult = {1, 2};
  config.num_blocks = 1;
  config.embedding_type = "fourier";
  config.channel_mult_noise = 2;
  config.encoder_type = "residual";
  config.resample_filter = {1, 3, 3, 1};
  return config;
}

// Returns the variant of NCSN++ with a pyramid of inputs and a pyramid of outputs.
inline nets::UNetConfig small_pyramid() {
  nets::UNetConfig config = small_ncsnpp();
  config.label_dim = 5;
  config.encoder_type = "skip";
  config.decoder_type = "skip";
  return config;
}

// Returns an ADM wide enough for two heads of attention.
inline nets::UNetConfig small_adm() {
  nets::UNetConfig config = nets::unet_preset("adm");
  config.img_resolution = 8;
  config.label_dim = 10;
  config.model_channels = 64;
  config.channel_mult = {1, 2};
  config.num_blocks = 1;
  config.attn_resolutions = {4};
  return config;
}

inline nets::UNetConfig small_local() {
  nets::UNetConfig config = nets::unet_preset("local");
  config.img_resolution = 8;
  config.model_channels = 8;
  config.channel_mult = {1, 2, 3};
  config.num_blocks = 1;
  return config;
}

inline nets::UNetConfig small_patched() {
  nets::UNetConfig config = small_local();
  config.patch = 2;
  return config;
}

inline std::map<std::string, nets::UNetConfig> small_edm_networks() {
  return {{"ddpmpp", small_ddpmpp()},
          {"ncsnpp", small_ncsnpp()},
          {"pyramid", small_pyramid()},
          {"adm", small_adm()}};
}

inline std::map<std::string, nets::UNetConfig> small_networks() {
  auto all = small_edm_networks();
  all["local"] = small_local();
  all["patched"] = small_patched();
  return all;
}

// Returns |a - b| / |b|.
inline double relative_error(const Tensor& a, const Tensor& b) {
  const Tensor exact = b.to(at::kDouble);
  return ((a.to(at::kDouble) - exact).norm() / exact.norm()).item<double>();
}

}  // namespace eps
