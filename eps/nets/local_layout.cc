// The layout of the U-Net for pictures of any size, and how far its outputs see.
#include "eps/nets/local_layout.h"

#include "eps/nets/layer_builder.h"

namespace eps::nets {
namespace {

class LocalLayout {
 public:
  explicit LocalLayout(UNetPlan& plan) : plan_(plan), config_(plan.config), make_(plan) {}

  void build() {
    const int64_t last = config_.levels() - 1;
    const int64_t inputs = config_.in_channels;
    ConvLayer first = config_.patch == 2 ? make_.merge("conv_in", inputs, width(0))
                                         : make_.conv("conv_in", inputs, width(0), 3, make_.init());
    first.image_inputs = config_.img_channels;
    step(Step::Kind::plain_conv, first);
    for (int64_t level = 0; level < last; ++level) {
      blocks("enc", level);
      step(Step::Kind::merge, make_.merge(name("merge", level), width(level), width(level + 1)));
    }
    blocks("mid", last);
    for (int64_t level = last - 1; level >= 0; --level) {
      step(Step::Kind::split, make_.split(name("split", level), width(level + 1), width(level)));
      blocks("dec", level);
    }
    const NormLayer norm = make_.norm("norm_out", width(0));
    ConvLayer head = make_.conv("conv_out",
                                width(0),
                                config_.out_channels * config_.patch * config_.patch,
                                3,
                                make_.init_zero());
    if (config_.patch == 2) head.resample = Resample::split;
    plan_.steps.push_back({.kind = Step::Kind::head, .conv = head, .norm = norm, .block = {}});
  }

 private:
  int64_t width(int64_t level) const {
    return config_.model_channels * config_.channel_mult[static_cast<size_t>(level)];
  }
  static std::string name(const char* part, int64_t level) {
    return std::string(part) + std::to_string(level);
  }
  void step(Step::Kind kind, const ConvLayer& layer) {
    plan_.steps.push_back({.kind = kind, .conv = layer, .norm = {}, .block = {}});
  }
  void blocks(const char* part, int64_t level) {
    for (int64_t i = 0; i < config_.num_blocks; ++i) {
      const std::string block = name(part, level) + "_block" + std::to_string(i);
      plan_.steps.push_back({.kind = Step::Kind::plain_block,
                             .conv = {},
                             .norm = {},
                             .block = make_.block(block, width(level), width(level), {})});
    }
  }

  UNetPlan& plan_;
  const UNetConfig& config_;
  LayerBuilder make_;
};

}  // namespace

void add_local_layout(UNetPlan& plan) { LocalLayout(plan).build(); }

std::optional<int64_t> UNetPlan::receptive_radius() const {
  if (!config.is_local() || config.norm != "pixel") return {};
  int64_t radius = 0, pixel = 1;  // the side of a pixel of the level
  for (const Step& step : steps) {
    const bool is_block = step.kind == Step::Kind::plain_block;
    const Resample resample = step.conv.resample;
    if (is_block)
      radius += (step.block.conv0.kernel / 2 + step.block.conv1.kernel / 2) * pixel;
    else if (resample != Resample::merge)  // whose taps are the pixels of the square
      radius += step.conv.kernel / 2 * pixel;
    if (resample == Resample::merge) pixel *= 2;
    if (resample == Resample::split) pixel /= 2;
  }
  // A pixel of the coarsest level covers a square, at whose far corner the output may lie.
  return radius + divisor() - 1;
}

}  // namespace eps::nets
