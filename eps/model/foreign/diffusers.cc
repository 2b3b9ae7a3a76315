// Networks of diffusers as checkpoints of ours.
#include "eps/model/foreign/diffusers.h"

#include "eps/base/printable.h"
#include "eps/io/torch/diffusers_folder.h"
#include "eps/model/foreign/diffusers_config.h"
#include "eps/model/foreign/renamed_unet.h"

namespace eps {
namespace {

// Returns the tensors with q, k and v of an attention joined, and under the newer of its two names.
std::map<std::string, Tensor> with_joined_attention(const std::map<std::string, Tensor>& theirs) {
  std::map<std::string, Tensor> joined;
  std::map<std::string, std::map<char, Tensor>> parts;  // of "a.qkv.weight": q, k and v
  for (const auto& [name, tensor] : theirs) {
    const size_t dot = name.rfind('.');
    const std::string kind = dot == std::string::npos ? "" : name.substr(dot);
    const auto renamed = [&](const std::string& part, const std::string& to) {
      return name.substr(0, dot - part.size()) + to + kind;
    };
    bool taken = false;
    for (const auto& [part, letter] : {std::pair<std::string, char>{".to_q", 'q'},
                                       {".to_k", 'k'},
                                       {".to_v", 'v'},
                                       {".query", 'q'},
                                       {".key", 'k'},
                                       {".value", 'v'}})
      if (!taken && name.substr(0, dot).ends_with(part)) {
        taken = parts[renamed(part, ".qkv")].emplace(letter, tensor).second;
        check(taken, "tensor ", quote(name), " is there under two names");
      }
    if (taken) continue;
    const bool old = name.substr(0, dot).ends_with(".proj_attn");
    joined[old ? renamed(".proj_attn", ".to_out.0") : name] = tensor;
  }
  for (const auto& [name, three] : parts) {
    check(three.size() == 3, "tensor ", quote(name), ": q, k and v are wanted, one is missing");
    const Tensor &q = three.at('q'), &k = three.at('k'), &v = three.at('v');
    check(q.dim() > 0 && q.sizes() == k.sizes() && q.sizes() == v.sizes(),
          "tensor ",
          quote(name),
          ": q, k and v differ in shape");
    joined[name] = at::cat({q, k, v}, 0);
  }
  return joined;
}

ForeignLayout unet2d_layout(const nets::UNetConfig& config, QkvOrder order) {
  ForeignLayout layout{.layers = {{"map_layer0", "time_embedding.linear_1"},
                                  {"map_layer1", "time_embedding.linear_2"},
                                  {"map_label", "class_embedding"},
                                  {"out_norm", "conv_norm_out"},
                                  {"out_conv", "conv_out"}},
                       .attentions = {},
                       .parts = {{"norm0", "norm1"},
                                 {"conv0", "conv1"},
                                 {"affine", "time_emb_proj"},
                                 {"norm1", "norm2"},
                                 {"conv1", "conv2"},
                                 {"skip", "conv_shortcut"},
                                 {"norm2", "group_norm"},
                                 {"qkv", "qkv"},
                                 {"proj", "to_out.0"}},
                       .order = order};
  const int64_t last = config.levels() - 1;
  const auto place = [&](const std::string& ours, const std::string& theirs, int64_t i) {
    layout.layers[ours] = theirs + ".resnets." + std::to_string(i);
    layout.attentions[ours] = theirs + ".attentions." + std::to_string(i);
  };
  layout.layers[block_name(config, "enc", 0, "conv")] = "conv_in";
  for (int64_t level = 0; level <= last; ++level) {
    const std::string down = "down_blocks." + std::to_string(level);
    const std::string up = "up_blocks." + std::to_string(last - level);
    if (level < last) {
      layout.layers[block_name(config, "enc", level + 1, "down")] = down + ".downsamplers.0.conv";
      layout.layers[block_name(config, "dec", level, "up")] =
          "up_blocks." + std::to_string(last - level - 1) + ".upsamplers.0.conv";
    }
    for (int64_t i = 0; i <= config.num_blocks; ++i) {
      const std::string block = "block" + std::to_string(i);
      if (i < config.num_blocks) place(block_name(config, "enc", level, block), down, i);
      place(block_name(config, "dec", level, block), up, i);
    }
  }
  place(block_name(config, "dec", last, "in0"), "mid_block", 0);
  place(block_name(config, "dec", last, "in1"), "mid_block", 1);
  return layout;
}

}  // namespace

bool is_diffusers(const Safetensors& file) {
  return file.metadata.contains(kDiffusersConfig) ||
         (file.tensors.contains("conv_in.weight") &&
          file.tensors.contains("down_blocks.0.resnets.0.norm1.weight"));
}

std::vector<Field> diffusers_fields() {
  return {
      Field::integer("size", "", {8, 16384}, "side of the images in pixels"),
      Field::choice(
          "schedule", "", {"linear", "scaled_linear", "cosine"}, "noise schedule of the training"),
      Field::integer("steps", "", {2, 100000}, "steps of the training"),
      Field::choice("prediction", "", {"epsilon", "sample", "v"}, "what it predicts")};
}

Safetensors from_diffusers(const Safetensors& file, const Spec& options) {
  const auto text = file.metadata.find(kDiffusersConfig);
  check(text != file.metadata.end(),
        "the weights of a network of diffusers without its config.json; give the folder that has "
        "both");
  const nets::UNetConfig network = diffusers_unet(text->second, options);
  const ModelConfig model{.network = network, .preconditioning = diffusers_process(file, options)};
  Safetensors ours = renamed_unet(
      with_joined_attention(file.tensors), model, unet2d_layout(network, QkvOrder::parts));
  ours.metadata["source"] = "diffusers";
  return ours;
}

}  // namespace eps
