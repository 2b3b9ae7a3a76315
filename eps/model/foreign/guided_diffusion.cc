// State dicts of guided-diffusion as checkpoints of ours.
#include "eps/model/foreign/guided_diffusion.h"

#include <algorithm>
#include <numeric>

#include "eps/base/printable.h"
#include "eps/model/foreign/renamed_unet.h"

namespace eps {
namespace {

const std::string kFirst = "input_blocks.0.0.weight";

// Returns the tensors of the network under the names that it gives them. Training states and
// wrapped networks have them behind a prefix.
std::map<std::string, Tensor> own_tensors(const Safetensors& file) {
  std::vector<std::string> prefixes;
  for (const auto& [name, tensor] : file.tensors)
    if (name.ends_with(kFirst)) prefixes.push_back(name.substr(0, name.size() - kFirst.size()));
  check(prefixes.size() == 1,
        "holds ",
        prefixes.size(),
        " networks, such as ",
        quote(prefixes[0] + kFirst),
        "; a file with one is wanted");
  const std::string& prefix = prefixes[0];
  for (const auto& [name, tensor] : file.tensors)
    check(!name.starts_with("first_stage_model."),
          "a network of latent images, which are no pixels; networks of pixels are read");
  std::map<std::string, Tensor> own;
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(prefix)) own[name.substr(prefix.size())] = tensor;
  return own;
}

// The sizes of a network, from the shapes of its tensors.
class Inference {
 public:
  explicit Inference(const std::map<std::string, Tensor>& tensors) : tensors_(tensors) {}

  nets::UNetConfig config() const {
    nets::UNetConfig config;
    config.model_type = "DhariwalUNet";
    config.dropout = 0;
    config.norm_groups = 32;
    config.attn_resolutions = {};
    config.num_blocks = blocks_of_level();
    set_widths(config);
    set_channels(config);
    const std::string last_up =
        "output_blocks." + std::to_string(config.num_blocks) + "." + std::to_string(up_place());
    const bool by_conv = config.levels() > 1 && has(last_up + ".conv.weight");
    config.resampling = by_conv ? "conv" : "block";
    const std::string block = "input_blocks.1.0.";
    config.scale_shift = rows(block + "emb_layers.1.weight") != rows(block + "in_layers.2.weight");
    if (has("label_emb.weight")) config.label_dim = rows("label_emb.weight");
    return config;
  }

  // Returns whether the blocks of the level attend.
  bool attends(const nets::UNetConfig& config, int64_t level) const {
    return has("input_blocks." + std::to_string(level * (config.num_blocks + 1) + 1) +
               ".1.qkv.weight");
  }

 private:
  bool has(const std::string& name) const { return tensors_.contains(name); }
  int64_t size(const std::string& name, int64_t dimension) const {
    const auto found = tensors_.find(name);
    check(found != tensors_.end(), "tensor ", quote(name), " is missing");
    check(found->second.dim() > dimension,
          "tensor ",
          quote(name),
          " must have more than ",
          dimension,
          " dimensions, got ",
          to_string(found->second.sizes()));
    return found->second.size(dimension);
  }
  int64_t rows(const std::string& name) const { return size(name, 0); }

  int64_t count(const std::string& part) const {
    int64_t number = 0;
    while (has(part + "." + std::to_string(number) + ".0.weight") ||
           has(part + "." + std::to_string(number) + ".0.in_layers.2.weight") ||
           has(part + "." + std::to_string(number) + ".0.op.weight"))
      ++number;
    return number;
  }

  // Returns the place, in an output block of the coarsest level, of what doubles the sides.
  int64_t up_place() const { return has("output_blocks.0.1.qkv.weight") ? 2 : 1; }

  // Returns the number of residual blocks of a level on the way down: the way up has one more, the
  // last of which is followed by what doubles the sides.
  int64_t blocks_of_level() const {
    const int64_t all = count("output_blocks");
    for (int64_t i = 0; i < all; ++i) {
      const std::string up =
          "output_blocks." + std::to_string(i) + "." + std::to_string(up_place());
      if (has(up + ".conv.weight") || has(up + ".in_layers.2.weight")) {
        check(i > 0, "a level without residual blocks");
        return i;
      }
    }
    check(all >= 2, "no residual blocks on the way up (output_blocks.*)");
    return all - 1;
  }

  void set_widths(nets::UNetConfig& config) const {
    const int64_t stride = config.num_blocks + 1, all = count("input_blocks");
    check(all >= stride && all % stride == 0,
          "levels of ",
          config.num_blocks,
          " blocks are wanted on the way down, got ",
          all,
          " input_blocks");
    std::vector<int64_t> widths = {rows(kFirst)};
    for (int64_t first = 1; first < all; first += stride)
      widths.push_back(rows("input_blocks." + std::to_string(first) + ".0.in_layers.2.weight"));
    const int64_t noise = size("time_embed.0.weight", 1), embedded = rows("time_embed.0.weight");
    int64_t unit = std::gcd(noise, embedded);
    for (const int64_t width : widths) unit = std::gcd(unit, width);
    check(unit > 0, "an empty layer");
    check(widths[0] == widths[1], "the first convolution and the first level differ in width");
    config.model_channels = unit;
    config.channel_mult_noise = noise / unit;
    config.channel_mult_emb = embedded / unit;
    config.channel_mult.clear();
    for (size_t i = 1; i < widths.size(); ++i) config.channel_mult.push_back(widths[i] / unit);
  }

  void set_channels(nets::UNetConfig& config) const {
    config.in_channels = size(kFirst, 1);
    config.out_channels = rows("out.2.weight");
    config.img_channels = config.in_channels;
    const bool variance = config.out_channels == 2 * config.in_channels;
    check((variance || config.out_channels == config.in_channels) && config.in_channels <= 4,
          "a network with ",
          config.in_channels,
          " inputs and ",
          config.out_channels,
          " outputs; one of images alone is wanted, with as many outputs or twice as many");
  }

  const std::map<std::string, Tensor>& tensors_;
};

// What the tensors do not tell of a published network of these sizes.
struct Untold {
  int64_t heads = 0, head_channels = 64;
  const char* attention = "legacy";
  const char* schedule = "linear";
};

Untold untold(const nets::UNetConfig& config) {
  const auto is = [&](int64_t width, int64_t blocks, const std::vector<int64_t>& mult) {
    return config.model_channels == width && config.num_blocks == blocks &&
           config.channel_mult == mult && config.label_dim == 1000;
  };
  if (is(192, 3, {1, 2, 3, 4})) return {.attention = "new", .schedule = "cosine"};
  if (is(256, 2, {1, 1, 2, 3, 4})) return {.heads = 4};
  return {};
}

// Sets the heads: as stated, or as in the published network.
void set_heads(nets::UNetConfig& config, const Spec& options, const Untold& usual) {
  const bool heads = options.has("heads"), channels = options.has("head_channels");
  check(!heads || !channels, "heads and head_channels state the same; one of them is wanted");
  config.num_heads = heads ? options.integer("heads") : channels ? 0 : usual.heads;
  config.head_channels = channels ? options.integer("head_channels") : usual.head_channels;
  for (int64_t level = 0; level < config.levels(); ++level) {
    const int64_t width = config.model_channels * config.channel_mult[static_cast<size_t>(level)];
    const int64_t divisor = config.num_heads > 0 ? config.num_heads : config.head_channels;
    check((!attends(config, level) && level + 1 < config.levels()) || width % divisor == 0,
          "a level with ",
          width,
          " channels attends, which do not fall into heads of attention as ",
          config.num_heads > 0 ? "heads=" : "head_channels=",
          divisor,
          " says; state them, as in guided_diffusion:file=FILE,heads=4");
  }
}

Preconditioning preconditioning_of(const Spec& options, const Untold& usual) {
  const int64_t steps = options.integer("steps");
  const double scale = 1000.0 / static_cast<double>(steps);
  return {.kind = Preconditioning::Kind::discrete,
          .M = steps,
          .prediction = options.text("prediction"),
          .beta_schedule = options.has("schedule") ? options.text("schedule") : usual.schedule,
          .beta_start = 1e-4 * scale,
          .beta_end = std::min(0.02 * scale, 0.999),
          .label_scale = scale};
}

// The published networks with convolutions between their levels differ in heads and schedule.
void require_untold(const nets::UNetConfig& config, const Spec& options) {
  if (config.resampling == "block") return;
  check((options.has("heads") || options.has("head_channels")) && options.has("schedule"),
        "the tensors do not tell the heads of attention and the noise schedule of this network; "
        "state them, as in guided_diffusion:file=FILE,heads=4,schedule=cosine,steps=4000");
}

ForeignLayout adm_layout(const nets::UNetConfig& config) {
  ForeignLayout layout{.layers = {{"map_layer0", "time_embed.0"},
                                  {"map_layer1", "time_embed.2"},
                                  {"map_label", "label_emb"},
                                  {"out_norm", "out.0"},
                                  {"out_conv", "out.2"}},
                       .attentions = {},
                       .parts = {{"norm0", "in_layers.0"},
                                 {"conv0", "in_layers.2"},
                                 {"affine", "emb_layers.1"},
                                 {"norm1", "out_layers.0"},
                                 {"conv1", "out_layers.3"},
                                 {"skip", "skip_connection"},
                                 {"norm2", "norm"},
                                 {"qkv", "qkv"},
                                 {"proj", "proj_out"}}};
  const bool by_conv = config.resampling != "block";
  const int64_t last = config.levels() - 1;
  const auto place = [&](const std::string& ours, const std::string& theirs) {
    layout.layers[ours] = theirs + ".0";
    layout.attentions[ours] = theirs + ".1";
  };
  int64_t index = 0;
  for (int64_t level = 0; level <= last; ++level, ++index) {
    const std::string theirs = "input_blocks." + std::to_string(index) + ".0";
    layout.layers[block_name(config, "enc", level, level == 0 ? "conv" : "down")] =
        theirs + (level > 0 && by_conv ? ".op" : "");
    for (int64_t i = 0; i < config.num_blocks; ++i)
      place(block_name(config, "enc", level, "block" + std::to_string(i)),
            "input_blocks." + std::to_string(++index));
  }
  place(block_name(config, "dec", last, "in0"), "middle_block");
  layout.layers[block_name(config, "dec", last, "in1")] = "middle_block.2";
  index = 0;
  for (int64_t level = last; level >= 0; --level) {
    if (level < last)
      layout.layers[block_name(config, "dec", level, "up")] =
          "output_blocks." + std::to_string(index - 1) +
          (attends(config, level + 1) ? ".2" : ".1") + (by_conv ? ".conv" : "");
    for (int64_t i = 0; i <= config.num_blocks; ++i)
      place(block_name(config, "dec", level, "block" + std::to_string(i)),
            "output_blocks." + std::to_string(index++));
  }
  return layout;
}

}  // namespace

bool is_guided_diffusion(const Safetensors& file) {
  return std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& entry) {
    return entry.first.ends_with(kFirst);
  });
}

std::vector<Field> guided_diffusion_fields() {
  return {Field::integer("size", "", {8, 16384}, "side of the images in pixels"),
          Field::integer("heads", "", {1, 1024}, "heads of attention at every level"),
          Field::integer("head_channels", "", {1, 16384}, "channels of a head, in place of heads"),
          Field::choice("attention", "", {"legacy", "new"}, "order of the rows of q, k and v"),
          Field::choice("schedule", "", {"linear", "cosine"}, "noise schedule of the training"),
          Field::integer("steps", "1000", {2, 100000}, "steps of the training"),
          Field::choice("prediction", "epsilon", {"epsilon", "sample", "v"}, "what it predicts")};
}

Safetensors from_guided_diffusion(const Safetensors& file, const Spec& options) {
  const std::map<std::string, Tensor> tensors = own_tensors(file);
  const Inference sizes(tensors);
  nets::UNetConfig config = sizes.config();
  require_untold(config, options);
  const Untold usual = untold(config);
  check(config.levels() <= 12, config.levels(), " levels; at most 12 are read");
  // Published networks have 8 x 8 pixels at their coarsest level.
  config.img_resolution =
      options.has("size") ? options.integer("size") : int64_t{8} << (config.levels() - 1);
  for (int64_t level = 0; level < config.levels(); ++level)
    if (sizes.attends(config, level))
      config.attn_resolutions.push_back(config.img_resolution >> level);
  set_heads(config, options, usual);
  const ModelConfig model{.network = config, .preconditioning = preconditioning_of(options, usual)};
  nets::validate(config);
  ForeignLayout layout = adm_layout(config);
  const std::string order = options.has("attention") ? options.text("attention") : usual.attention;
  layout.order = order == "new" ? QkvOrder::parts : QkvOrder::legacy;
  Safetensors ours = renamed_unet(tensors, model, layout);
  ours.metadata["source"] = "guided-diffusion";
  return ours;
}

}  // namespace eps
