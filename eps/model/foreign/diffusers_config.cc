// The configurations that diffusers writes beside a network.
#include "eps/model/foreign/diffusers_config.h"

#include <algorithm>
#include <numeric>

#include "eps/base/json_fields.h"
#include "eps/io/torch/diffusers_folder.h"

namespace eps {
namespace {

const std::string kWhere = "config.json", kScheduler = "scheduler_config.json";

// Reads a field that may be absent or null.
template <class Value>
void maybe(JsonFields& fields, const char* name, Value& value) {
  const Json* found = fields.find(name);
  if (found != nullptr && !found->is_null()) fields.optional(name, value);
}

// Throws an Error unless the field is absent, null or this value.
void must_be(JsonFields& fields, const char* name, const Json& wanted) {
  const Json* found = fields.find(name);
  check(found == nullptr || found->is_null() || *found == wanted,
        fields.where(),
        ": ",
        name,
        " must be ",
        json_text(wanted),
        ", got ",
        found == nullptr ? "" : json_excerpt(*found));
}

// What other networks of the same class have, and our plan does not.
void check_kind(JsonFields& fields) {
  must_be(fields, "_class_name", "UNet2DModel");
  must_be(fields, "time_embedding_type", "positional");
  must_be(fields, "center_input_sample", false);
  must_be(fields, "mid_block_scale_factor", 1);
  must_be(fields, "downsample_type", "conv");
  must_be(fields, "upsample_type", "conv");
  must_be(fields, "add_attention", true);
  must_be(fields, "class_embed_type", nullptr);
  must_be(fields, "mid_block_type", "UNetMidBlock2D");
  std::string activation = "silu";
  maybe(fields, "act_fn", activation);
  check(activation == "silu" || activation == "swish",
        kWhere,
        ": act_fn must be silu or swish, got ",
        quote(activation));
}

// Returns for each block whether it attends.
std::vector<bool> attending(JsonFields& fields, const char* name, const std::string& part) {
  std::vector<bool> attending;
  for (const auto& type : fields.get<std::vector<std::string>>(name)) {
    const bool attends = type == "Attn" + part + "Block2D";
    check(attends || type == part + "Block2D",
          kWhere,
          ": ",
          name,
          " must be ",
          part,
          "Block2D or Attn",
          part,
          "Block2D, got ",
          quote(type));
    attending.push_back(attends);
  }
  return attending;
}

void set_levels(JsonFields& fields, nets::UNetConfig& config) {
  const auto widths = fields.get<std::vector<int64_t>>("block_out_channels");
  check(!widths.empty() && widths.size() <= 12,
        kWhere,
        ": block_out_channels must have 1 to 12 widths, got ",
        widths.size());
  for (const int64_t width : widths)
    check(width > 0 && width <= 1 << 20,
          kWhere,
          ": block_out_channels must be in [1, 1048576], got ",
          width);
  const std::vector<bool> down = attending(fields, "down_block_types", "Down");
  std::vector<bool> up = attending(fields, "up_block_types", "Up");
  std::reverse(up.begin(), up.end());
  check(down.size() == widths.size() && up == down,
        kWhere,
        ": down_block_types and up_block_types must have a block for each of ",
        widths.size(),
        " levels, with attention at the same levels");
  int64_t unit = 0;
  for (const int64_t width : widths) unit = std::gcd(unit, width);
  config.model_channels = unit;
  config.channel_mult_noise = widths[0] / unit;
  config.channel_mult_emb = 4 * config.channel_mult_noise;
  config.channel_mult.clear();
  config.attn_resolutions.clear();
  for (size_t level = 0; level < widths.size(); ++level) {
    config.channel_mult.push_back(widths[level] / unit);
    const int64_t side = config.img_resolution >> level;
    if (down[level]) config.attn_resolutions.push_back(side);
  }
}

// A number, or two equal ones, gives the size of the images. Networks of any size have none.
void set_resolution(JsonFields& fields, const Spec& options, nets::UNetConfig& config) {
  const Json* found = fields.find("sample_size");
  const bool absent = found == nullptr || found->is_null();
  if (!options.has("size")) check(!absent, kWhere, ": has no sample_size; state size=64");
  if (!absent && found->is_array()) {
    const auto sides = fields.get<std::vector<int64_t>>("sample_size");
    check(sides.size() == 2 && sides[0] == sides[1],
          kWhere,
          ": sample_size must be one number or two equal ones");
    config.img_resolution = sides[0];
  } else if (!absent) {
    fields.required("sample_size", config.img_resolution);
  }
  if (options.has("size")) config.img_resolution = options.integer("size");
  check(config.img_resolution > 0 && config.img_resolution < 1 << 20,
        kWhere,
        ": sample_size is ",
        config.img_resolution);
}

void set_blocks(JsonFields& fields, nets::UNetConfig& config) {
  config.num_blocks = 2;
  maybe(fields, "layers_per_block", config.num_blocks);
  maybe(fields, "dropout", config.dropout);
  std::string shift = "default";
  maybe(fields, "resnet_time_scale_shift", shift);
  config.scale_shift = shift == "scale_shift";
  check(config.scale_shift || shift == "default",
        kWhere,
        ": resnet_time_scale_shift must be default or scale_shift, got ",
        quote(shift));
  int64_t padding = 1;
  maybe(fields, "downsample_padding", padding);
  check(padding == 0 || padding == 1, kWhere, ": downsample_padding must be 0 or 1");
  config.resampling = padding == 1 ? "conv" : "corner";
  config.norm_groups = 32;
  maybe(fields, "norm_num_groups", config.norm_groups);
  maybe(fields, "norm_eps", config.norm_eps);
  must_be(fields, "attn_norm_num_groups", config.norm_groups);
  // With null the whole width is one head.
  const Json* head = fields.find("attention_head_dim");
  config.num_heads = head != nullptr && head->is_null() ? 1 : 0;
  config.head_channels = 8;
  maybe(fields, "attention_head_dim", config.head_channels);
}

}  // namespace

nets::UNetConfig diffusers_unet(const std::string& text, const Spec& options) {
  const Json json = parse_json(text, kWhere);
  JsonFields fields(json, kWhere);
  check_kind(fields);
  nets::UNetConfig config;
  config.model_type = "DhariwalUNet";
  config.dropout = 0;
  set_resolution(fields, options, config);
  set_levels(fields, config);
  set_blocks(fields, config);
  maybe(fields, "in_channels", config.in_channels);
  config.img_channels = config.out_channels = config.in_channels;
  maybe(fields, "out_channels", config.out_channels);
  check(config.out_channels == config.in_channels || config.out_channels == 2 * config.in_channels,
        kWhere,
        ": a network of images alone is wanted, with as many out_channels as in_channels or twice "
        "as many");
  maybe(fields, "num_class_embeds", config.label_dim);
  bool sine_last = true;
  maybe(fields, "flip_sin_to_cos", sine_last);
  config.sine_first = !sine_last;
  maybe(fields, "freq_shift", config.frequency_shift);
  nets::validate(config);
  return config;
}

namespace {

std::string beta_schedule(const std::string& theirs) {
  if (theirs == "squaredcos_cap_v2" || theirs == "cosine") return "cosine";
  check(theirs == "linear" || theirs == "scaled_linear",
        kScheduler,
        ": beta_schedule must be linear, scaled_linear or squaredcos_cap_v2, got ",
        quote(theirs));
  return theirs;
}

std::string prediction_of(const std::string& theirs) {
  if (theirs == "v_prediction") return "v";
  check(theirs == "epsilon" || theirs == "sample" || theirs == "v",
        kScheduler,
        ": prediction_type must be epsilon, sample or v_prediction, got ",
        quote(theirs));
  return theirs;
}

Preconditioning discrete_process(JsonFields fields, const Spec& options) {
  Preconditioning p{.kind = Preconditioning::Kind::discrete};
  must_be(fields, "rescale_betas_zero_snr", false);
  std::string schedule = "linear", prediction = "epsilon";
  maybe(fields, "num_train_timesteps", p.M);
  maybe(fields, "beta_start", p.beta_start);
  maybe(fields, "beta_end", p.beta_end);
  maybe(fields, "beta_schedule", schedule);
  maybe(fields, "prediction_type", prediction);
  bool noise = true;  // the older field
  maybe(fields, "predict_epsilon", noise);
  if (!noise && !fields.has("prediction_type")) prediction = "sample";
  maybe(fields, "trained_betas", p.betas);
  if (options.has("steps")) p.M = options.integer("steps");
  if (options.has("schedule")) p.betas.clear();
  p.beta_schedule = !p.betas.empty()          ? "table"
                    : options.has("schedule") ? options.text("schedule")
                                              : beta_schedule(schedule);
  p.prediction = options.has("prediction") ? options.text("prediction") : prediction_of(prediction);
  return p;
}

}  // namespace

// Schedulers of other processes, such as ScoreSdeVeScheduler, have no betas.
Preconditioning diffusers_process(const Safetensors& file, const Spec& options) {
  const auto text = file.metadata.find(kDiffusersScheduler);
  const bool stated = options.has("schedule") && options.has("prediction");
  check(text != file.metadata.end() || stated,
        "there is no scheduler_config.json beside or above the network; state schedule and "
        "prediction, as in diffusers:file=FOLDER,schedule=linear,prediction=epsilon");
  const Json json =
      text == file.metadata.end() ? Json::object() : parse_json(text->second, kScheduler);
  const auto has = [&](const char* name) { return json.contains(name) && !json[name].is_null(); };
  check(stated || has("beta_schedule") || has("trained_betas"),
        kScheduler,
        ": has no beta_schedule, so it is not of a process in steps, as DDPM's is");
  return discrete_process(JsonFields(json, kScheduler), options);
}

}  // namespace eps
