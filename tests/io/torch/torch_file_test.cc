// Torch checkpoints of every format: their tensors, names and configuration.
#include "eps/io/torch/torch_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/io/torch/torch_bytes.h"

namespace eps {
namespace {

using namespace pickled;
using nlohmann::json;

// The layout of an EDM snapshot: a preconditioner around a network with one convolution.
std::string edm_network() {
  const uint8_t source = 200;
  const std::string module_src =
      memoize(text("import os\nos.system('never')\nclass EDMPrecond: pass\n"), source);
  const std::string convolution = persistent(
      "Conv2d",
      recall(source),
      module_state(
          {{"weight", parameter(tensor(inner_storage({1, 2, 3, 4, 5, 6}), 0, {2, 3}, {3, 1}))},
           {"bias", none()}},
          {{"resample_filter", tensor(inner_storage({0.25}), 0, {1, 1, 2, 2}, {0, 0, 0, 0})}},
          {},
          {{"in_channels", integer(3)}}));
  const std::string encoder = instance(global("torch.nn.modules.container", "ModuleDict"),
                                       module_state({}, {}, {{"8x8_conv", convolution}}, {}));
  const std::string network = persistent("SongUNet",
                                         recall(source),
                                         module_state({},
                                                      {},
                                                      {{"enc", encoder}, {"map_label", none()}},
                                                      {{"_init_args", tuple({})},
                                                       {"_init_kwargs",
                                                        dict({{"img_resolution", integer(8)},
                                                              {"in_channels", integer(3)},
                                                              {"dropout", number(0.05)}})}}));
  return persistent("EDMPrecond",
                    module_src,
                    module_state({},
                                 {},
                                 {{"model", network}},
                                 {{"img_resolution", integer(8)},
                                  {"use_fp16", flag(false)},
                                  {"sigma_min", integer(0)},
                                  {"sigma_max", number(std::numeric_limits<double>::infinity())},
                                  {"sigma_data", number(0.5)},
                                  {"_init_args", tuple({})},
                                  {"_init_kwargs",
                                   dict({{"model_type", text("SongUNet")},
                                         {"channel_mult", list({integer(1), integer(2)})},
                                         {"unknown", text("kept")}})}}));
}

TEST(TorchFile, ReadsAnEdmSnapshot) {
  const std::string bytes = whole(dict({{"ema", edm_network()},
                                        {"loss_fn", none()},
                                        {"augment_pipe", none()},
                                        {"dataset_kwargs", dict({{"path", text("x.zip")}})}}));
  const TorchFile file = parse(bytes);
  EXPECT_EQ(file.kind, "edm-snapshot");
  EXPECT_EQ(names_of(file),
            (std::vector<std::string>{"model.enc.8x8_conv.resample_filter",
                                      "model.enc.8x8_conv.weight"}));
  EXPECT_TRUE(
      identical(file.tensors.at("model.enc.8x8_conv.weight"), floats({1, 2, 3, 4, 5, 6}, {2, 3})));
  EXPECT_TRUE(identical(file.tensors.at("model.enc.8x8_conv.resample_filter"),
                        floats({0.25, 0.25, 0.25, 0.25}, {1, 1, 2, 2})));
  EXPECT_EQ(json::parse(file.config),
            (json{{"class_name", "EDMPrecond"},
                  {"model_type", "SongUNet"},
                  {"img_resolution", 8},
                  {"in_channels", 3},
                  {"dropout", 0.05},
                  {"use_fp16", false},
                  {"sigma_min", 0},
                  {"sigma_data", 0.5},
                  {"channel_mult", {1, 2}},
                  {"unknown", "kept"}}));
}

TEST(TorchFile, FindsTheNetworkWhereverASnapshotKeepsIt) {
  const auto names = names_of(parse(whole(edm_network())));
  EXPECT_EQ(names_of(parse(whole(dict({{"net", edm_network()}})))), names);
  EXPECT_EQ(names_of(parse(whole(dict({{"model", edm_network()}})))), names);
}

TEST(TorchFile, ReadsStorageBytesAsOldProtocolsWriteThem) {
  // Protocol 2 has no bytes: it writes the Latin-1 text and a call that would encode it.
  const std::string stream = legacy(storage_id("ByteStorage", "0", 2), {{"0", 2, "\x7f\xe9"}});
  std::string utf8;
  for (const char byte : stream) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      utf8 += byte;
    } else {
      utf8 += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
    }
  }
  const std::string encoded = call(global("_codecs", "encode"), {text(utf8), text("latin1")});
  const std::string storage = call(global("torch.storage", "_load_from_bytes"), {encoded});
  const TorchFile file = parse(whole(dict({{"x", tensor(storage, 0, {2}, {1})}})));
  EXPECT_EQ(file.kind, "pickle");
  EXPECT_TRUE(identical(file.tensors.at("x"), at::tensor({0x7f, 0xe9}, at::kByte)));
}

TEST(TorchFile, ReadsAStateDictInAZip) {
  const std::string object = ordered_dict({{"features.0.weight", float_tensor("0", 2)},
                                           {"lin0.model.1.weight", float_tensor("1", 1)}}) +
                             dict({{"_metadata", ordered_dict({})}}) + "b";
  const TorchFile file =
      parse(torch_zip(object, {{"0", raw<float>({1.5, -2})}, {"1", raw<float>({3})}}));
  EXPECT_EQ(file.kind, "torch-zip");
  EXPECT_EQ(file.config, "{}");
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_TRUE(identical(file.tensors.at("features.0.weight"), floats({1.5, -2}, {2})));
  EXPECT_TRUE(identical(file.tensors.at("lin0.model.1.weight"), floats({3}, {1})));
}

TEST(TorchFile, KeepsFullNamesOfNestedDictsAndThePlainDataBesideThem) {
  const std::string object = dict(
      {{"state_dict", ordered_dict({{"conv.weight", float_tensor("0", 1)}})},
       {"optimizer",
        dict({{"state", joined({"}", integer(0), dict({{"exp_avg", float_tensor("1", 1)}}), "s"})},
              {"param_groups", list({dict({{"lr", number(0.001)}})})}})},
       {"list", list({integer(1), float_tensor("1", 1)})},
       {"epoch", integer(7)}});
  const TorchFile file = parse(torch_zip(object, {{"0", raw<float>({1})}, {"1", raw<float>({2})}}));
  EXPECT_EQ(
      names_of(file),
      (std::vector<std::string>{"list.1", "optimizer.state.0.exp_avg", "state_dict.conv.weight"}));
  EXPECT_EQ(json::parse(file.config),
            (json{{"epoch", 7}, {"optimizer", {{"param_groups", {{{"lr", 0.001}}}}}}}));
  EXPECT_TRUE(identical(file.tensors.at("state_dict.conv.weight"), floats({1}, {1})));
}

TEST(TorchFile, ReadsATrainingStateWithAModule) {
  const std::string net = persistent(
      "EDMPrecond",
      text("source"),
      module_state(
          {{"weight", parameter(float_tensor("0", 1))}}, {}, {}, {{"sigma_data", number(0.5)}}));
  const TorchFile file =
      parse(torch_zip(dict({{"net", net}, {"optimizer_state", dict({{"step", integer(1)}})}}),
                      {{"0", raw<float>({4})}}));
  EXPECT_EQ(names_of(file), std::vector<std::string>{"net.weight"});
  EXPECT_EQ(json::parse(file.config), (json{{"class_name", "EDMPrecond"}, {"sigma_data", 0.5}}));
}

TEST(TorchFile, ReadsALegacyFile) {
  const std::string object = dict({{"a", tensor(storage_id("FloatStorage", "7", 4), 1, {2}, {2})},
                                   {"b", tensor(storage_id("LongStorage", "8", 1), 0, {}, {})}});
  const TorchFile file =
      parse(legacy(object, {{"8", 1, raw<int64_t>({-5})}, {"7", 4, raw<float>({10, 11, 12, 13})}}));
  EXPECT_EQ(file.kind, "torch-legacy");
  EXPECT_TRUE(identical(file.tensors.at("a"), floats({11, 13}, {2})));
  EXPECT_TRUE(identical(file.tensors.at("b"), at::scalar_tensor(-5, at::kLong)));
}

TEST(TorchFile, ReadsPartsOfAStorageInALegacyFile) {
  const std::string id = tuple({text("storage"),
                                global("torch.cuda", "FloatStorage"),
                                text("7"),
                                text("cuda:0"),
                                integer(4),
                                tuple({text("part"), integer(1), integer(2)})}) +
                         "Q";
  const std::string object = dict({{"a", tensor(id, 0, {2}, {1})}});
  const std::string data = raw<float>({10, 11, 12, 13});
  EXPECT_TRUE(
      identical(parse(legacy(object, {{"7", 4, data}})).tensors.at("a"), floats({11, 12}, {2})));
  const std::string beyond = dict({{"a", tensor(id, 0, {3}, {1})}});
  EXPECT_NE(parse_error(legacy(beyond, {{"7", 4, data}})).find("past its storage of 2"),
            std::string::npos);
}

TEST(TorchFile, ReadsModulesWhoseClassCarriesItsSource) {
  const std::string type =
      tuple({text("module"), global("nets", "Net"), text("nets.py"), text("source")}) + "Q";
  const std::string object =
      instance(type, module_state({{"w", parameter(float_tensor("0", 1))}}, {}, {}, {}));
  const TorchFile file = parse(legacy(object, {{"0", 1, raw<float>({1})}}));
  EXPECT_EQ(names_of(file), std::vector<std::string>{"w"});
  EXPECT_EQ(json::parse(file.config), (json{{"class_name", "Net"}}));
}

TEST(TorchFile, LeavesOutBuffersThatAreNotPersistent) {
  Entries attributes = {
      {"_parameters", ordered_dict({})},
      {"_buffers", ordered_dict({{"kept", float_tensor("0", 1)}, {"left", float_tensor("0", 1)}})},
      {"_modules", ordered_dict({})},
      {"_non_persistent_buffers_set", joined({"\x8f(", text("left"), "\x90"})}};
  const std::string object = instance(global("nets", "Net"), dict(attributes));
  EXPECT_EQ(names_of(parse(torch_zip(object, {{"0", raw<float>({1})}}))),
            std::vector<std::string>{"kept"});
}

TEST(TorchFile, RefusesBigEndianFiles) {
  const std::string object = whole(dict({{"x", float_tensor("0", 1)}}));
  EXPECT_NE(parse_error(zipped::archive({{"a/data.pkl", object},
                                         {"a/byteorder", "big"},
                                         {"a/data/0", raw<float>({1})}}))
                .find("big-endian"),
            std::string::npos);
}

TEST(TorchFile, SaysWhatIsNoCheckpoint) {
  EXPECT_EQ(parse_error("<!DOCTYPE html>"),
            "a.pt: no torch checkpoint: it begins with \"<!DOCTYP\"");
  EXPECT_EQ(parse_error(""),
            "a.pt: no torch checkpoint: it begins with nothing: the file is empty");
  EXPECT_EQ(parse_error(zipped::archive({{"00000/img.png", "x"}})),
            "a.pt: a ZIP archive without data.pkl is no torch checkpoint");
  EXPECT_EQ(parse_error(whole(dict({{"epoch", integer(1)}}))), "a.pt: holds no tensors");
}

TEST(TorchFile, RefusesNamesThatMeetOrCannotBeWritten) {
  const std::string one = float_tensor("0", 1);
  const std::string twice = dict({{"a", dict({{"b", one}})}, {"a.b", one}});
  EXPECT_EQ(parse_error(torch_zip(twice, {{"0", raw<float>({1})}})),
            "a.pt: tensor 'a.b': appears twice");
  EXPECT_NE(parse_error(torch_zip(dict({{"\xff", one}}), {{"0", raw<float>({1})}})).find("UTF-8"),
            std::string::npos);
  const std::string long_name = dict({{std::string(2000, 'x'), one}});
  EXPECT_NE(parse_error(torch_zip(long_name, {{"0", raw<float>({1})}})).find("longer than 1000"),
            std::string::npos);
}

TEST(TorchFile, RefusesASnapshotCutAnywhere) {
  const std::string bytes = whole(dict({{"ema", edm_network()}}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_torch_file(std::string_view(bytes).substr(0, size), "a.pkl"), Error) << size;
  }
}

TEST(TorchFile, RefusesZipAndLegacyFilesCutAnywhere) {
  const std::string object = dict({{"x", float_tensor("0", 2)}});
  for (const std::string& bytes : {torch_zip(object, {{"0", raw<float>({1, 2})}}),
                                   legacy(object, {{"0", 2, raw<float>({1, 2})}})}) {
    EXPECT_EQ(names_of(parse(bytes)), std::vector<std::string>{"x"});
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_THROW(parse_torch_file(std::string_view(bytes).substr(0, size), "a.pt"), Error)
          << size;
    }
  }
}

}  // namespace
}  // namespace eps
