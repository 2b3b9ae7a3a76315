// The U-Net's configuration: EDM's defaults and names, JSON, and the public networks' sizes.
#include "eps/nets/config.h"

#include <gtest/gtest.h>

#include "eps/nets/plan.h"
#include "tests/files.h"

namespace eps::nets {
namespace {

TEST(UNetConfig, ComesBackFromJson) {
  for (const auto& name : unet_presets()) {
    UNetConfig config = unet_preset(name);
    config.in_channels = 7;
    config.out_channels = 6;
    config.label_dropout = 0.1;
    EXPECT_EQ(parse_unet_config(to_json(config)), config) << name;
  }
}

TEST(UNetConfig, AbsentFieldsHaveTheDefaultsOfTheArchitecture) {
  const UNetConfig song = parse_unet_config(R"({"model_type": "SongUNet", "img_channels": 1})");
  EXPECT_EQ(song.model_channels, 128);
  EXPECT_EQ(song.channel_mult, (std::vector<int64_t>{1, 2, 2, 2}));
  EXPECT_EQ(song.in_channels, 1);
  EXPECT_EQ(song.out_channels, 1);
  const UNetConfig adm = parse_unet_config(R"({"model_type": "DhariwalUNet"})");
  EXPECT_EQ(adm.model_channels, 192);
  EXPECT_EQ(adm.channel_mult, (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(adm.num_blocks, 3);
  EXPECT_EQ(adm.attn_resolutions, (std::vector<int64_t>{32, 16, 8}));
}

TEST(UNetConfig, NamesTheFieldThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"model_type": "UNet"})", "model_type"},
      {R"({"model_type": 3})", "model_type"},
      {R"({"depth": 3})", "depth"},
      {R"({"model_type": "DhariwalUNet", "encoder_type": "skip"})", "encoder_type"},
      {R"({"encoder_type": "ladder"})", "encoder_type"},
      {R"({"channel_mult": "wide"})", "channel_mult"},
      {R"({"channel_mult": []})", "channel_mult"},
      {R"({"img_resolution": 36, "channel_mult": [1, 1, 1, 1]})", "img_resolution"},
      {R"({"dropout": 1.5})", "dropout"},
      {R"({"in_channels": 2})", "in_channels"},
      {R"({"resample_filter": [1, 2, 1]})", "resample_filter"},
      {"[1, 2]", "must be a JSON object"},
      {"{", "no JSON: line 1, column 2"},
      {R"({"num_blocks": 2.5})", "num_blocks must be a whole number, got 2.5"},
      {R"({"num_blocks": true})", "num_blocks must be a whole number, got true"},
      {R"({"num_blocks": 1, "num_blocks": 2})", "'num_blocks' appears twice"},
      {R"({"num_blocks": 1000000})", "num_blocks must be at most 256, got 1000000"},
      {R"({"model_channels": 65536})", "model_channels must be at most 16384, got 65536"},
      {R"({"in_channels": 1000000000})", "in_channels must be at most 16384, got 1000000000"},
  };
  for (const auto& [json, word] : cases) {
    EXPECT_NE(error_of([&] { parse_unet_config(json); }).find(word), std::string::npos) << json;
  }
}

TEST(UNetConfig, APresetThatIsNotThereIsNamed) {
  const std::string message = error_of([] { unet_preset("vgg"); });
  EXPECT_NE(message.find("vgg"), std::string::npos);
  EXPECT_NE(message.find("ncsnpp"), std::string::npos);
}

// The sizes of EDM's public networks, and of the same with three further input channels.
TEST(UNetPlan, HasThePublicNetworksParameterCounts) {
  UNetConfig ffhq = unet_preset("ffhq64");
  EXPECT_EQ(UNetPlan(ffhq).parameter_count(), 61805571);
  EXPECT_EQ(UNetPlan(ffhq).parameter_tensors(), 541);
  EXPECT_EQ(std::ssize(UNetPlan(ffhq).tensors), 541 + 12);
  ffhq.in_channels = 6;
  EXPECT_EQ(UNetPlan(ffhq).parameter_count(), 61809027);

  UNetConfig imagenet = unet_preset("imagenet64");
  EXPECT_EQ(UNetPlan(imagenet).parameter_count(), 295899267);
  EXPECT_EQ(UNetPlan(imagenet).parameter_tensors(), 541);
  EXPECT_EQ(std::ssize(UNetPlan(imagenet).tensors), 541 + 12);
  imagenet.in_channels = 6;
  EXPECT_EQ(UNetPlan(imagenet).parameter_count(), 295904451);
}

TEST(UNetPlan, RefusesChannelsThatDoNotFormGroupsOrHeads) {
  UNetConfig odd;
  odd.model_channels = 136;  // 32 groups do not divide it
  EXPECT_NE(error_of([&] { UNetPlan{odd}; }).find("136"), std::string::npos);
  UNetConfig narrow = unet_preset("adm");
  narrow.model_channels = 32;
  narrow.channel_mult = {1, 1};
  EXPECT_NE(error_of([&] { UNetPlan{narrow}; }).find("multiple of 64"), std::string::npos);
}

}  // namespace
}  // namespace eps::nets
