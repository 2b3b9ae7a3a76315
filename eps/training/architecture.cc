// The architecture of a network from scratch.
#include "eps/training/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace eps::training {
namespace {

// The presets of each architecture, and the first of them, its default.
const std::map<std::string, std::vector<std::string>> kPresets = {
    {"ddpmpp", {"small", "tiny", "ffhq64"}},
    {"adm", {"small", "tiny", "imagenet64"}},
    {"local", {"photos", "photos-small", "tiny"}}};

// Returns the resolutions in "16,8"; none in "none".
std::vector<int64_t> resolutions(const std::string& text) {
  std::vector<int64_t> all;
  if (text == "none") return all;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int64_t value = 0;
    const auto [stop, status] = std::from_chars(text.data() + begin, text.data() + end, value);
    check(status == std::errc() && stop == text.data() + end && value > 0,
          "training: attention must be none, or resolutions such as 16,8; got \"",
          text,
          "\"");
    all.push_back(value);
    begin = end + 1;
  }
  return all;
}

// Returns the width of each level over that of the first: EDM's for its networks, and one more with
// each level for the others.
std::vector<int64_t> widths(const std::string& arch, int64_t levels) {
  std::vector<int64_t> all;
  for (int64_t level = 0; level < levels; ++level)
    all.push_back(arch == "ddpmpp" ? std::min<int64_t>(level + 1, 2) : level + 1);
  return all;
}

nets::UNetConfig preset_of(const TrainingConfig& config) {
  const bool adm = config.arch == "adm", local = config.arch == "local";
  if (config.preset == "ffhq64" || config.preset == "imagenet64")
    return nets::unet_preset(config.preset);
  nets::UNetConfig network = nets::unet_preset(local ? "local" : adm ? "imagenet64" : "ffhq64");
  if (config.preset == "tiny") {
    network.model_channels = adm ? 32 : 16;
    network.channel_mult = {1, 2};
    network.num_blocks = 1;
    network.attn_resolutions = {};
    network.dropout = 0;
  } else if (config.preset == "small") {
    network.model_channels = 64;
    network.channel_mult = adm ? std::vector<int64_t>{1, 2, 2} : std::vector<int64_t>{1, 2, 2, 2};
    network.num_blocks = 2;
    network.attn_resolutions = {16};
    network.dropout = 0;
  } else if (config.preset == "photos-small") {
    network.model_channels = 32;
    network.channel_mult_emb = 2;
  }
  return network;
}

}  // namespace

void check_architecture(const TrainingConfig& c) {
  const auto known = kPresets.find(c.arch);
  check(known != kPresets.end(),
        "training: arch must be one of ddpmpp, adm, local; got \"",
        c.arch,
        "\"");
  const std::vector<std::string>& presets = known->second;
  check(std::count(presets.begin(), presets.end(), c.preset) > 0,
        "training: the preset of arch=",
        c.arch,
        " must be one of ",
        fmt::format("{}", fmt::join(presets, ", ")),
        "; got \"",
        c.preset,
        "\"");
  for (const auto& [name, value] : {std::pair{"channels", c.channels},
                                    {"levels", c.levels},
                                    {"blocks", c.blocks},
                                    {"patch", c.patch}})
    check(value >= 0, "training: ", name, " must be at least 0, got ", value);
  check(c.levels <= 31, "training: levels must be at most 31, got ", c.levels);
  check(c.norm.empty() || c.arch == "local",
        "training: norm is for arch=local, got norm=",
        c.norm,
        " with arch=",
        c.arch);
  check(c.patch == 0 || c.arch == "local",
        "training: patch is for arch=local, got patch=",
        c.patch,
        " with arch=",
        c.arch);
  check(c.attention.empty() || c.arch != "local",
        "training: arch=local has no attention, got attention=",
        c.attention);
  architecture_of(c);
}

nets::UNetConfig architecture_of(const TrainingConfig& config) {
  nets::UNetConfig network = preset_of(config);
  if (config.channels > 0) network.model_channels = config.channels;
  if (config.levels > 0) network.channel_mult = widths(config.arch, config.levels);
  if (config.blocks > 0) network.num_blocks = config.blocks;
  if (!config.attention.empty()) network.attn_resolutions = resolutions(config.attention);
  if (!config.norm.empty()) network.norm = config.norm;
  if (config.patch > 0) network.patch = config.patch;
  if (config.dropout >= 0) network.dropout = config.dropout;
  network.augment_dim = 0;  // nothing is augmented but for mirror images
  return network;
}

}  // namespace eps::training
