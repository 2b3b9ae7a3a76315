// Presets, validation and JSON of the U-Net's configuration.
#include "eps/nets/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace eps::nets {
namespace {

using Json = nlohmann::ordered_json;

UNetConfig song_defaults() { return {}; }

UNetConfig dhariwal_defaults() {
  UNetConfig config;
  config.model_type = "DhariwalUNet";
  config.model_channels = 192;
  config.channel_mult = {1, 2, 3, 4};
  config.num_blocks = 3;
  config.attn_resolutions = {32, 16, 8};
  return config;
}

UNetConfig ddpmpp() {
  UNetConfig config = song_defaults();
  config.img_resolution = 32;
  config.channel_mult = {2, 2, 2};
  return config;
}

UNetConfig ncsnpp() {
  UNetConfig config = ddpmpp();
  config.embedding_type = "fourier";
  config.channel_mult_noise = 2;
  config.encoder_type = "residual";
  config.resample_filter = {1, 3, 3, 1};
  return config;
}

UNetConfig ffhq64() {
  UNetConfig config = song_defaults();
  config.augment_dim = 9;
  config.dropout = 0.05;
  return config;
}

UNetConfig imagenet64() {
  UNetConfig config = dhariwal_defaults();
  config.label_dim = 1000;
  return config;
}

const std::map<std::string, UNetConfig (*)()>& presets() {
  static const std::map<std::string, UNetConfig (*)()> table = {{"ddpmpp", ddpmpp},
                                                                {"ncsnpp", ncsnpp},
                                                                {"adm", dhariwal_defaults},
                                                                {"ffhq64", ffhq64},
                                                                {"imagenet64", imagenet64}};
  return table;
}

// Calls visit(name, member) for every field, so that reading, writing and checking know one list.
template <class Config, class Visit>
void for_each_field(Config& config, Visit&& visit) {
  visit("model_type", config.model_type);
  visit("img_resolution", config.img_resolution);
  visit("img_channels", config.img_channels);
  visit("in_channels", config.in_channels);
  visit("out_channels", config.out_channels);
  visit("label_dim", config.label_dim);
  visit("augment_dim", config.augment_dim);
  visit("model_channels", config.model_channels);
  visit("channel_mult", config.channel_mult);
  visit("channel_mult_emb", config.channel_mult_emb);
  visit("num_blocks", config.num_blocks);
  visit("attn_resolutions", config.attn_resolutions);
  visit("dropout", config.dropout);
  visit("label_dropout", config.label_dropout);
  if (!config.is_song()) return;
  visit("embedding_type", config.embedding_type);
  visit("channel_mult_noise", config.channel_mult_noise);
  visit("encoder_type", config.encoder_type);
  visit("decoder_type", config.decoder_type);
  visit("resample_filter", config.resample_filter);
}

void check_word(const char* field, const std::string& value, std::vector<std::string> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const auto& word : allowed) list += (list.empty() ? "" : ", ") + word;
  fail("network config: ", field, " must be one of ", list, "; got \"", value, "\"");
}

void check_at_least(const char* field, int64_t value, int64_t least) {
  check(value >= least, "network config: ", field, " must be at least ", least, ", got ", value);
}

void check_probability(const char* field, double value) {
  check(value >= 0 && value < 1, "network config: ", field, " must be in [0, 1), got ", value);
}

}  // namespace

UNetConfig unet_preset(const std::string& name) {
  const auto found = presets().find(name);
  if (found == presets().end()) {
    std::string list;
    for (const auto& preset : unet_presets()) list += (list.empty() ? "" : ", ") + preset;
    fail("network preset must be one of ", list, "; got \"", name, "\"");
  }
  return found->second();
}

std::vector<std::string> unet_presets() {
  std::vector<std::string> names;
  for (const auto& [name, make] : presets()) names.push_back(name);
  return names;
}

void validate(const UNetConfig& config) {
  check_word("model_type", config.model_type, {"SongUNet", "DhariwalUNet"});
  check_word("embedding_type", config.embedding_type, {"positional", "fourier"});
  check_word("encoder_type", config.encoder_type, {"standard", "skip", "residual"});
  check_word("decoder_type", config.decoder_type, {"standard", "skip"});
  const bool song_fields = config.embedding_type != "positional" ||
                           config.encoder_type != "standard" || config.decoder_type != "standard" ||
                           config.channel_mult_noise != 1 ||
                           config.resample_filter != std::vector<double>{1, 1};
  check(config.is_song() || !song_fields,
        "network config: embedding_type, encoder_type, decoder_type, channel_mult_noise and "
        "resample_filter are for a SongUNet only");
  check_at_least("img_channels", config.img_channels, 1);
  check_at_least("in_channels", config.in_channels, config.img_channels);
  check_at_least("out_channels", config.out_channels, config.img_channels);
  check_at_least("label_dim", config.label_dim, 0);
  check_at_least("augment_dim", config.augment_dim, 0);
  check_at_least("model_channels", config.model_channels, 4);
  check_at_least("channel_mult_emb", config.channel_mult_emb, 1);
  check_at_least("channel_mult_noise", config.channel_mult_noise, 1);
  check_at_least("num_blocks", config.num_blocks, 1);
  check_at_least("number of channel_mult", config.levels(), 1);
  for (const int64_t mult : config.channel_mult) check_at_least("channel_mult", mult, 1);
  check_at_least("number of resample_filter", std::ssize(config.resample_filter), 2);
  check(config.resample_filter.size() % 2 == 0,
        "network config: resample_filter must have an even number of taps, got ",
        config.resample_filter.size());
  check_probability("dropout", config.dropout);
  check_probability("label_dropout", config.label_dropout);
  check(config.levels() < 32, "network config: channel_mult has ", config.levels(), " levels");
  const int64_t divisor = int64_t{1} << (config.levels() - 1);
  check(config.img_resolution >= divisor && config.img_resolution % divisor == 0,
        "network config: img_resolution must be a multiple of ",
        divisor,
        ", got ",
        config.img_resolution);
}

std::string to_json(const UNetConfig& config) {
  Json json;
  for_each_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  return json.dump();
}

UNetConfig parse_unet_config(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  check(json.is_object(), "network config: not a JSON object: ", text.substr(0, 80));
  const bool dhariwal = json.contains("model_type") && json.at("model_type") == "DhariwalUNet";
  UNetConfig config = dhariwal ? dhariwal_defaults() : song_defaults();
  const auto read = [&](const char* name, auto& value) {
    if (!json.contains(name)) return;
    try {
      json.at(name).get_to(value);
    } catch (const Json::exception&) {
      fail("network config: ", name, " has a value of the wrong type: ", json.at(name).dump());
    }
  };
  read("img_channels", config.img_channels);
  config.in_channels = config.out_channels = config.img_channels;
  std::vector<std::string> known;
  for_each_field(config, [&](const char* name, auto& value) {
    read(name, value);
    known.push_back(name);
  });
  validate(config);
  for (const auto& [name, value] : json.items()) {
    check(std::find(known.begin(), known.end(), name) != known.end(),
          "network config: unknown field \"",
          name,
          "\" for a ",
          config.model_type);
  }
  return config;
}

}  // namespace eps::nets
