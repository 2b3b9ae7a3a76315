// Presets, validation and JSON of the U-Net's configuration.
#include "eps/nets/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "eps/base/printable.h"
#include "eps/nets/config_json.h"

namespace eps::nets {
namespace {

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

UNetConfig local_defaults() {
  UNetConfig config;
  config.model_type = "LocalUNet";
  config.img_resolution = 128;
  config.model_channels = 64;
  config.channel_mult = {1, 2, 3, 4};
  config.num_blocks = 2;
  config.attn_resolutions = {};
  config.dropout = 0;
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
                                                                {"local", local_defaults},
                                                                {"ffhq64", ffhq64},
                                                                {"imagenet64", imagenet64}};
  return table;
}

// Calls visit(name, member) for the fields of DhariwalUNet that EDM's networks do not have.
template <class Config, class Visit>
void for_each_adm_field(Config& config, Visit&& visit) {
  visit("channel_mult_noise", config.channel_mult_noise);
  visit("num_heads", config.num_heads);
  visit("head_channels", config.head_channels);
  visit("scale_shift", config.scale_shift);
  visit("resampling", config.resampling);
  visit("norm_groups", config.norm_groups);
  visit("norm_eps", config.norm_eps);
  visit("frequency_shift", config.frequency_shift);
  visit("sine_first", config.sine_first);
}

// Calls visit(name, member) for every other field: reading, writing and checking share this list.
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
  if (config.is_local()) {
    visit("norm", config.norm);
    visit("patch", config.patch);
  }
  if (!config.is_song()) return;
  visit("embedding_type", config.embedding_type);
  visit("channel_mult_noise", config.channel_mult_noise);
  visit("encoder_type", config.encoder_type);
  visit("decoder_type", config.decoder_type);
  visit("resample_filter", config.resample_filter);
}

void check_word(const char* field, const std::string& value, std::vector<std::string> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  fail("network config: ",
       field,
       " must be one of ",
       fmt::to_string(fmt::join(allowed, ", ")),
       "; got \"",
       printable(value),
       "\"");
}

// Bounds far beyond any trained network keep a plan small and its parameter count within int64.
constexpr int64_t kMostChannels = 1 << 14, kMostClasses = 1 << 20, kMostBlocks = 256,
                  kMostMult = 64, kMostEntries = 64;

void check_within(const char* field, int64_t value, int64_t least, int64_t most) {
  check(value >= least, "network config: ", field, " must be at least ", least, ", got ", value);
  check(value <= most, "network config: ", field, " must be at most ", most, ", got ", value);
}

void check_probability(const char* field, double value) {
  check(value >= 0 && value < 1, "network config: ", field, " must be in [0, 1), got ", value);
}

Json adm_json(const UNetConfig& config) {
  Json json;
  for_each_adm_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

void validate_variant(const UNetConfig& config) {
  check(!config.is_local() || config.channel_mult_noise == 1,
        "network config: channel_mult_noise is not for a LocalUNet");
  check_word("resampling", config.resampling, {"block", "conv", "corner"});
  check_within("num_heads", config.num_heads, 0, kMostChannels);
  check_within("head_channels", config.head_channels, 1, kMostChannels);
  check_within("norm_groups", config.norm_groups, 0, kMostChannels);
  check_within("frequency_shift", config.frequency_shift, 0, 1);
  check(config.norm_eps > 0 && config.norm_eps < 1,
        "network config: norm_eps must be in (0, 1), got ",
        config.norm_eps);
  if (config.is_adm()) return;
  const Json usual = adm_json({}), own = adm_json(config);
  for (const auto& [name, value] : own.items())
    check(name == "channel_mult_noise" || value == usual[name],
          "network config: ",
          name,
          " is for a DhariwalUNet only");
}

}  // namespace

UNetConfig unet_preset(const std::string& name) {
  const auto found = presets().find(name);
  check(found != presets().end(),
        "network preset must be one of ",
        fmt::to_string(fmt::join(unet_presets(), ", ")),
        "; got \"",
        name,
        "\"");
  return found->second();
}

std::vector<std::string> unet_presets() {
  std::vector<std::string> names;
  for (const auto& [name, make] : presets()) names.push_back(name);
  return names;
}

void validate(const UNetConfig& config) {
  check_word("model_type", config.model_type, {"SongUNet", "DhariwalUNet", "LocalUNet"});
  check_word("norm", config.norm, {"pixel", "group"});
  check(config.is_local() || config.norm == "pixel",
        "network config: norm is for a LocalUNet only");
  check_within("patch", config.patch, 1, 2);
  check(config.is_local() || config.patch == 1, "network config: patch is for a LocalUNet only");
  check(!config.is_local() || (config.attn_resolutions.empty() && config.dropout == 0),
        "network config: a LocalUNet has neither attention nor dropout");
  check_word("embedding_type", config.embedding_type, {"positional", "fourier"});
  check_word("encoder_type", config.encoder_type, {"standard", "skip", "residual"});
  check_word("decoder_type", config.decoder_type, {"standard", "skip"});
  const bool song_fields = config.embedding_type != "positional" ||
                           config.encoder_type != "standard" || config.decoder_type != "standard" ||
                           config.resample_filter != std::vector<double>{1, 1};
  check(config.is_song() || !song_fields,
        "network config: embedding_type, encoder_type, decoder_type and resample_filter are for a "
        "SongUNet only");
  validate_variant(config);
  check_within("img_channels", config.img_channels, 1, kMostChannels);
  check_within("in_channels", config.in_channels, config.img_channels, kMostChannels);
  check_within("out_channels", config.out_channels, config.img_channels, kMostChannels);
  check_within("label_dim", config.label_dim, 0, kMostClasses);
  check_within("augment_dim", config.augment_dim, 0, kMostChannels);
  check_within("model_channels", config.model_channels, 4, kMostChannels);
  check_within("channel_mult_emb", config.channel_mult_emb, 1, kMostMult);
  check_within("channel_mult_noise", config.channel_mult_noise, 1, kMostMult);
  check_within("num_blocks", config.num_blocks, 1, kMostBlocks);
  check_within("number of channel_mult", config.levels(), 1, 31);
  for (const int64_t mult : config.channel_mult) check_within("channel_mult", mult, 1, kMostMult);
  check_within("number of attn_resolutions", std::ssize(config.attn_resolutions), 0, kMostEntries);
  check_within("number of resample_filter", std::ssize(config.resample_filter), 2, kMostEntries);
  check(config.resample_filter.size() % 2 == 0,
        "network config: resample_filter must have an even number of taps, got ",
        config.resample_filter.size());
  check_probability("dropout", config.dropout);
  check_probability("label_dropout", config.label_dropout);
  const int64_t divisor = config.divisor();
  check(config.img_resolution >= divisor && config.img_resolution % divisor == 0,
        "network config: img_resolution must be a multiple of ",
        divisor,
        ", got ",
        config.img_resolution);
}

Json unet_json(const UNetConfig& config) {
  Json json;
  for_each_field(config, [&](const char* name, const auto& value) { json[name] = value; });
  if (!config.is_adm()) return json;
  // EDM's own networks are described in EDM's fields alone.
  const Json usual = adm_json(dhariwal_defaults()), own = adm_json(config);
  for (const auto& [name, value] : own.items())
    if (value != usual[name]) json[name] = value;
  return json;
}

UNetConfig read_unet_config(JsonFields& fields) {
  std::string type;
  fields.optional("model_type", type);
  UNetConfig config = type == "DhariwalUNet" ? dhariwal_defaults()
                      : type == "LocalUNet"  ? local_defaults()
                                             : song_defaults();
  fields.optional("img_channels", config.img_channels);
  config.in_channels = config.out_channels = config.img_channels;
  const auto read = [&](const char* name, auto& value) { fields.optional(name, value); };
  for_each_field(config, read);
  if (config.is_adm()) for_each_adm_field(config, read);
  validate(config);
  fields.finish(" for a " + config.model_type);
  return config;
}

std::string to_json(const UNetConfig& config) { return json_text(unet_json(config)); }

UNetConfig parse_unet_config(const std::string& text) {
  const Json json = parse_json(text, "network config");
  JsonFields fields(json, "network config");
  return read_unet_config(fields);
}

}  // namespace eps::nets
