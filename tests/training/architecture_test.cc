// The architecture of networks from scratch.
#include "eps/training/architecture.h"

#include <gtest/gtest.h>

#include "eps/nets/plan.h"
#include "tests/files.h"

namespace eps::training {
namespace {

// The configuration with what it says by default.
TrainingConfig resolved_with(const std::function<void(TrainingConfig&)>& change) {
  TrainingConfig config;
  config.input = "prior";
  change(config);
  return resolved(config);
}

TEST(Architecture, PresetsAndSizesDescribeANetwork) {
  const auto photos = architecture_of(resolved_with([](auto& c) { c.preset = "photos"; }));
  EXPECT_EQ(photos.model_type, "LocalUNet");
  EXPECT_EQ(photos, nets::unet_preset("local"));
  const auto also = architecture_of(resolved_with([](auto& c) { c.arch = "local"; }));
  EXPECT_EQ(also, photos);
  const auto small = architecture_of(resolved_with([](auto& c) { c.preset = "photos-small"; }));
  EXPECT_LT(2 * nets::UNetPlan(small).parameter_count(), 4e6);  // bytes in half precision
  EXPECT_EQ(small.patch, 1);
  const auto sized = architecture_of(resolved_with([](auto& c) {
    c.arch = "local";
    c.channels = 48;
    c.levels = 3;
    c.blocks = 4;
    c.norm = "group";
    c.patch = 2;
  }));
  EXPECT_EQ(sized.model_channels, 48);
  EXPECT_EQ(sized.channel_mult, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(sized.num_blocks, 4);
  EXPECT_EQ(sized.norm, "group");
  EXPECT_EQ(sized.patch, 2);
  const auto song = architecture_of(resolved_with([](auto& c) {
    c.levels = 3;
    c.attention = "16,8";
  }));
  EXPECT_EQ(song.model_type, "SongUNet");
  EXPECT_EQ(song.channel_mult, (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(song.attn_resolutions, (std::vector<int64_t>{16, 8}));
  EXPECT_EQ(architecture_of(resolved_with([](auto& c) { c.attention = "none"; })).attn_resolutions,
            std::vector<int64_t>{});
}

TEST(Architecture, RefusesWhatDoesNotGoTogether) {
  const auto error = [](const std::function<void(TrainingConfig&)>& change) {
    return error_of([&] { resolved_with(change); });
  };
  EXPECT_EQ(error([](auto& c) { c.arch = "vit"; }),
            "training: arch must be one of ddpmpp, adm, local; got \"vit\"");
  EXPECT_EQ(error([](auto& c) { c.arch = "local", c.preset = "small"; }),
            "training: the preset of arch=local must be one of photos, photos-small, tiny; got "
            "\"small\"");
  EXPECT_EQ(error([](auto& c) { c.arch = "local", c.attention = "16"; }),
            "training: arch=local has no attention, got attention=16");
  EXPECT_EQ(error([](auto& c) { c.norm = "group"; }),
            "training: norm is for arch=local, got norm=group with arch=ddpmpp");
  EXPECT_EQ(error([](auto& c) { c.patch = 2; }),
            "training: patch is for arch=local, got patch=2 with arch=ddpmpp");
  EXPECT_EQ(error([](auto& c) { c.attention = "16,"; }),
            "training: attention must be none, or resolutions such as 16,8; got \"16,\"");
  EXPECT_EQ(error([](auto& c) { c.levels = -1; }), "training: levels must be at least 0, got -1");
  EXPECT_EQ(error([](auto& c) {
              c.input = "eps", c.tasks = {"identity"}, c.sigma_y = "0..0.1", c.sigma_y_law = "log";
            }),
            "training: sigma_y_law=log needs sigma_y > 0, got 0..0.1");
}

}  // namespace
}  // namespace eps::training
