// A U-Net of another program as ours.
#include "eps/model/foreign/renamed_unet.h"

#include <algorithm>
#include <set>

#include "eps/base/printable.h"
#include "eps/base/random.h"
#include "eps/nets/unet_tensors.h"

namespace eps {
namespace {

using Tensors = std::map<std::string, Tensor>;

class Renaming {
 public:
  Renaming(const Tensors& theirs, const ModelConfig& config, const ForeignLayout& layout)
      : theirs_(theirs), plan_(config.network), layout_(layout) {}

  Tensors tensors() {
    Rng unused(0);
    Tensors ours;
    for (const nets::TensorSpec& spec : plan_.tensors)
      ours["model." + spec.name] =
          spec.fill == nets::TensorSpec::Fill::filter
              ? nets::initial_tensor(spec, plan_.config, unused).to(at::kFloat)
              : take(spec);
    for (const auto& [name, tensor] : theirs_)
      check(used_.contains(name), "unknown tensor ", quote(name));
    return ours;
  }

 private:
  // Returns their name of the layer that has the tensor: "input_blocks.1.0.in_layers.2".
  std::string layer_of(const std::string& layer) const {
    if (const auto whole = layout_.layers.find(layer); whole != layout_.layers.end())
      return whole->second;
    const size_t dot = layer.rfind('.');
    const std::string block = layer.substr(0, dot), part = layer.substr(dot + 1);
    const bool attention = part == "norm2" || part == "qkv" || part == "proj";
    return (attention ? layout_.attentions : layout_.layers).at(block) + "." +
           layout_.parts.at(part);
  }

  Tensor take(const nets::TensorSpec& spec) {
    const size_t dot = spec.name.rfind('.');
    const std::string layer = spec.name.substr(0, dot);
    const std::string name = layer_of(layer) + spec.name.substr(dot);
    const auto found = theirs_.find(name);
    check(found != theirs_.end(), "tensor ", quote(name), " is missing");
    used_.insert(name);
    Tensor tensor = found->second;
    if (layer == "map_label" && tensor.dim() == 2) tensor = tensor.t();  // a table of rows
    check(fits(tensor, spec.shape),
          "tensor ",
          quote(name),
          " must be ",
          to_string(spec.shape),
          ", got ",
          to_string(tensor.sizes()));
    return layer.ends_with(".qkv") ? in_our_order(tensor.reshape(spec.shape))
                                   : tensor.reshape(spec.shape).contiguous();
  }

  // Returns whether the tensor has the shape but for dimensions of 1 at its end.
  static bool fits(const Tensor& tensor, Shape shape) {
    Shape own = tensor.sizes().vec();
    const auto shorten = [](Shape& s) {
      while (s.size() > 1 && s.back() == 1) s.pop_back();
    };
    shorten(own);
    shorten(shape);
    return own == shape;
  }

  // Returns the rows in the order head, channel, (q, k, v).
  Tensor in_our_order(const Tensor& rows) const {
    const int64_t channels = rows.size(0) / 3;
    const nets::UNetConfig& config = plan_.config;
    const int64_t heads = layout_.order == QkvOrder::parts ? 1
                          : config.num_heads > 0           ? config.num_heads
                                                           : channels / config.head_channels;
    return rows.reshape({heads, 3, channels / heads, -1}).transpose(1, 2).reshape(rows.sizes());
  }

  const Tensors& theirs_;
  const nets::UNetPlan plan_;
  const ForeignLayout& layout_;
  std::set<std::string> used_;
};

}  // namespace

std::string block_name(const nets::UNetConfig& config,
                       const char* half,
                       int64_t level,
                       const std::string& block) {
  const std::string side = std::to_string(config.img_resolution >> level);
  return std::string(half) + "." + side + "x" + side + "_" + block;
}

bool attends(const nets::UNetConfig& config, int64_t level) {
  const auto& sizes = config.attn_resolutions;
  return std::count(sizes.begin(), sizes.end(), config.img_resolution >> level) > 0;
}

Safetensors renamed_unet(const Tensors& theirs,
                         const ModelConfig& config,
                         const ForeignLayout& layout) {
  const std::string text = to_json(config);
  parse_model_config(text);  // refuses what no checkpoint of ours may say
  return {Renaming(theirs, config, layout).tensors(), {{"config", text}}};
}

}  // namespace eps
