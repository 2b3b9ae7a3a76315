// Checkpoints: what is written comes back, and what is wrong is named.
#include "eps/model/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "eps/model/preconditioned_query.h"
#include "tests/files.h"
#include "tests/shared.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

using Kind = Preconditioning::Kind;

const Provenance kProvenance{.data = "synthetic",
                             .images_seen = 12800,
                             .tasks = {"inpainting", "motion_blur"},
                             .sigma_y = "0.05"};

TEST(Checkpoint, ComesBackFromItsFile) {
  const Folder folder;
  const std::string path = folder.file("network.safetensors");
  const Tensor x = waves({2, 3, 8, 8});
  for (const auto& [name, config] : small_networks()) {
    const Checkpoint written{.network = wave_network(config),
                             .preconditioning = {.sigma_data = 0.4, .sigma_upper = 80},
                             .gpu_arithmetic = at::kHalf,
                             .provenance = kProvenance};
    write_checkpoint(path, written);
    const Checkpoint read = read_checkpoint(path);
    EXPECT_EQ(read.network.config(), config) << name;
    EXPECT_EQ(read.preconditioning, written.preconditioning) << name;
    EXPECT_EQ(read.provenance, kProvenance) << name;
    EXPECT_EQ(read.gpu_arithmetic, at::kHalf) << name;
    EXPECT_TRUE(denoise(read.network, read.preconditioning, x, scalar(2))
                    .equal(denoise(written.network, written.preconditioning, x, scalar(2))))
        << name;
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"network.safetensors"}));
}

// Half the bytes, and the numbers of the rounded network.
TEST(Checkpoint, KeepsTheNetworksTypes) {
  const Folder folder;
  nets::UNet half = wave_network(small_ddpmpp());
  write_checkpoint(folder.file("float"), {.network = half});
  half.to(at::kCPU, at::kHalf);
  write_checkpoint(folder.file("half"), {.network = half});
  const double ratio = static_cast<double>(std::filesystem::file_size(folder.file("half"))) /
                       static_cast<double>(std::filesystem::file_size(folder.file("float")));
  EXPECT_LT(ratio, 0.75);
  const Checkpoint read = read_checkpoint(folder.file("half"));
  EXPECT_EQ(read.network.dtype(), at::kFloat);
  const Tensor x = waves({1, 3, 8, 8});
  const Tensor noise = at::zeros({1});
  EXPECT_LT(relative_error(read.network.forward(x, noise), half.forward(x, noise)), 1e-6);
}

// Half the bytes; weights rounded, and what is no weight exact.
TEST(Checkpoint, IsReadAfterItsWeightsWereStoredInAnotherType) {
  const Folder folder;
  const std::string path = folder.file("network.safetensors");
  const Preconditioning preconditioning{.kind = Kind::anisotropic,
                                        .prior_variance = "spectrum",
                                        .prior_mean = "neighbours",
                                        .spectrum = waves({8, 5}).abs() + 0.1};
  const Checkpoint written{.network = wave_network(small_ncsnpp()),
                           .preconditioning = preconditioning};
  write_checkpoint(path, written);
  const auto full_size = static_cast<double>(std::filesystem::file_size(path));
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16, at::kFloat}) {
    write_safetensors(path, stored_as(to_safetensors(written), dtype));
    const auto size = static_cast<double>(std::filesystem::file_size(path));
    EXPECT_LE(size, (dtype == at::kFloat ? 1 : 0.75) * full_size) << dtype;
    const Checkpoint read = read_checkpoint(path);
    EXPECT_TRUE(read.preconditioning == preconditioning) << dtype;
    const auto expected = written.network.parameters(), found = read.network.parameters();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(identical(found[i].tensor, expected[i].tensor.to(dtype).to(at::kFloat)))
          << dtype << " " << found[i].name;
    }
    for (const auto& [name, tensor] : read.network.buffers()) {
      if (name != "map_noise.freqs") continue;
      EXPECT_TRUE(identical(tensor, waves(tensor.sizes().vec()) * 16)) << dtype;
    }
  }
}

TEST(Checkpoint, StoredInAnotherTypeKeepsIntegersAndRefusesWhatOverflows) {
  const Preconditioning iddpm{.kind = Kind::iddpm};
  const Safetensors file{{{"step", at::ones({}, at::kLong)},
                          {"u", iddpm_noise_levels(iddpm).to(at::kFloat)},
                          {"w", at::tensor({6e4, 1e-30, INFINITY, NAN}, at::kDouble)}},
                         {{"config", "{}"}}};
  const Safetensors half = stored_as(file, at::kHalf);
  EXPECT_TRUE(identical(half.tensors.at("step"), file.tensors.at("step")));
  EXPECT_TRUE(identical(half.tensors.at("u"), file.tensors.at("u")));
  EXPECT_EQ(half.tensors.at("w").scalar_type(), at::kHalf);
  EXPECT_EQ(half.metadata, file.metadata);
  const Safetensors great{{{"w", at::tensor({7e4}, at::kFloat)}}, {}};
  EXPECT_EQ(error_of([&] { stored_as(great, at::kHalf); }),
            "tensor 'w' has numbers too great for float16");
  EXPECT_EQ(stored_as(great, at::kBFloat16).tensors.at("w").scalar_type(), at::kBFloat16);
}

TEST(Checkpoint, NamesTheFileAndWhatIsWrongInIt) {
  const Folder folder;
  write_checkpoint(folder.file("a"), {.network = wave_network(small_ddpmpp())});
  const Safetensors whole = read_safetensors(folder.file("a"));
  const auto message = [&](auto change) {
    Safetensors changed = whole;
    change(changed);
    return error_of([&] { checkpoint_from(changed, "a.safetensors"); });
  };
  EXPECT_EQ(message([](Safetensors& f) { f.tensors.erase("model.map_layer0.bias"); }),
            "a.safetensors: network: tensor \"map_layer0.bias\" is missing");
  EXPECT_EQ(message([](Safetensors& f) { f.tensors["model.extra"] = at::ones({1}); }),
            "a.safetensors: network: unknown tensor \"extra\"");
  EXPECT_EQ(message([](Safetensors& f) { f.tensors["extra"] = at::ones({1}); }),
            "a.safetensors: unknown tensor \"extra\"");
  EXPECT_EQ(message([](Safetensors& f) { f.tensors["model.map_layer0.bias"] = at::ones({3}); }),
            "a.safetensors: network: tensor \"map_layer0.bias\" must be 32, got 3");
  EXPECT_EQ(message([](Safetensors& f) { f.metadata.erase("config"); }),
            "a.safetensors: no \"config\" in the metadata");
  EXPECT_EQ(message([](Safetensors& f) { f.metadata["provenance"] = R"({"author": "x"})"; }),
            "a.safetensors: provenance: unknown field \"author\"");
  const std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_EQ(message([&](Safetensors& f) { f.metadata["config"] = deep; }),
            "a.safetensors: model config: nests deeper than 64 levels");
  EXPECT_EQ(message([&](Safetensors& f) { f.metadata["provenance"] = deep; }),
            "a.safetensors: provenance: nests deeper than 64 levels");
}

// Bytes of memory that this process has taken at most.
int64_t peak_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

TEST(Checkpoint, AConfigIsComparedWithTheTensorsBeforeMemoryIsTaken) {
  const Folder folder;
  write_checkpoint(folder.file("a"), {.network = wave_network(small_ddpmpp())});
  const Safetensors whole = read_safetensors(folder.file("a"));
  const auto with = [&](const std::string& field, int64_t value) {
    Safetensors changed = whole;
    auto config = nlohmann::json::parse(whole.metadata.at("config"));
    config[field] = value;
    changed.metadata["config"] = config.dump();
    return error_of([&] { checkpoint_from(changed, "a"); });
  };
  const int64_t before = peak_memory();
  EXPECT_EQ(with("num_blocks", 1000000),
            "a: network config: num_blocks must be at most 256, got 1000000");
  EXPECT_EQ(with("model_channels", 65536),
            "a: network config: model_channels must be at most 16384, got 65536");
  EXPECT_EQ(with("in_channels", 1000000000),
            "a: network config: in_channels must be at most 16384, got 1000000000");
  EXPECT_NE(with("num_blocks", 256).find("is missing"), std::string::npos);
  EXPECT_NE(with("model_channels", 16384).find(" must be "), std::string::npos);
  EXPECT_NE(with("in_channels", 16384).find(" must be "), std::string::npos);
  EXPECT_LT(peak_memory() - before, 64 << 20);
}

TEST(Checkpoint, ReadsEdmsNetworks) {
  for (const std::string kind : {"ddpmpp", "ncsnpp", "adm"}) {
    const std::string name = "reference/edm-" + kind + "-16.safetensors";
    const std::string path = shared_file(name);
    if (path.empty()) GTEST_SKIP() << "no " << name << " beside the checkout or under EPS_SHARED";
    const Checkpoint checkpoint = read_checkpoint(path);
    EXPECT_EQ(checkpoint.preconditioning, Preconditioning{}) << kind;
    EXPECT_EQ(checkpoint.provenance, Provenance{}) << kind;
    EXPECT_EQ(checkpoint.network.config().img_resolution, 16) << kind;
  }
}

TEST(Checkpoint, IddpmsNoiseLevelsMustBeTheConfigs) {
  const Folder folder;
  nets::UNetConfig config = small_adm();
  config.out_channels = 6;
  write_checkpoint(folder.file("a"),
                   {.network = wave_network(config), .preconditioning = {.kind = Kind::iddpm}});
  Safetensors file = read_safetensors(folder.file("a"));
  file.tensors["u"] = iddpm_noise_levels({.kind = Kind::iddpm}).to(at::kFloat);
  EXPECT_EQ(checkpoint_from(file, "a").preconditioning.kind, Kind::iddpm);
  file.tensors["u"] = iddpm_noise_levels({.kind = Kind::iddpm, .C_2 = 0.01}).to(at::kFloat);
  EXPECT_NE(error_of([&] { checkpoint_from(file, "a"); }).find("\"u\""), std::string::npos);
}

TEST(ModelConfig, ComesBackFromJson) {
  for (const Kind kind : {Kind::edm, Kind::vp, Kind::ve, Kind::iddpm}) {
    ModelConfig config{.network = small_pyramid(), .preconditioning = {.kind = kind}};
    EXPECT_EQ(parse_model_config(to_json(config)), config);
  }
  for (const char* schedule : {"linear", "scaled_linear", "cosine", "table"}) {
    ModelConfig steps{.preconditioning = {.kind = Kind::discrete,
                                          .M = 3,
                                          .prediction = "v",
                                          .beta_schedule = schedule,
                                          .label_scale = 0.25}};
    if (schedule == std::string("table")) steps.preconditioning.betas = {0.1, 0.2, 0.3};
    EXPECT_EQ(parse_model_config(to_json(steps)), steps) << schedule;
  }
  const ModelConfig vp{.preconditioning = {.kind = Kind::vp, .beta_d = 10, .M = 500}};
  EXPECT_EQ(parse_model_config(to_json(vp)), vp);
  for (const char* name : {"prior+skip", "eps_precision+skip", "pivot+y+deviation", "i2sb+skip+y"})
    for (const bool scale : {false, true}) {
      ModelConfig seen{.preconditioning = {.kind = Kind::anisotropic}, .input = parse_input(name)};
      seen.input.scale_side = scale;
      EXPECT_EQ(parse_model_config(to_json(seen)), seen) << name;
    }
}

// The text that earlier versions wrote and read.
TEST(ModelConfig, WritesPresetsAsBefore) {
  ModelConfig config{.preconditioning = {.kind = Kind::anisotropic},
                     .input = NetworkInput::eps_precision.with(Channel::skip)};
  config.input.scale_side = true;
  const auto begins = [&](const std::string& text) {
    return to_json(config).substr(0, text.size()) == text;
  };
  EXPECT_TRUE(
      begins(R"({"class_name":"AnisotropicPrecond","sigma_data":0.5,"prior_variance":"constant",)"
             R"("scale_side":true,"show_skip":true,"use_fp16":false,"input":"eps_precision",)"))
      << to_json(config);
  config.input = NetworkInput::eps;
  EXPECT_TRUE(
      begins(R"({"class_name":"AnisotropicPrecond","sigma_data":0.5,"prior_variance":"constant",)"
             R"("use_fp16":false,"input":"eps",)"))
      << to_json(config);
}

TEST(Checkpoint, TheBundledNetworksSeeWhatTheyAlwaysDid) {
  const std::string folder = EPS_SOURCE_DIR "/models/";
  for (const auto& [name, input] :
       {std::pair{"faces64-prior", "prior"}, {"faces64-eps", "eps_precision+skip"}}) {
    const Safetensors file = read_safetensors(folder + name + ".safetensors");
    const Checkpoint model = checkpoint_from(file, name);
    EXPECT_EQ(model.input, parse_input(input)) << to_string(model.input);
    EXPECT_EQ(model.network.config().in_channels, model.input.channels(3));
    EXPECT_EQ(to_safetensors(model).metadata.at("config"), file.metadata.at("config"));
  }
}

TEST(ModelConfig, ReadsEdmsKeywordsFlatOrNested) {
  const std::string fields =
      R"("img_resolution": 64, "img_channels": 3, "label_dim": 1000, "use_fp16": true,
         "sigma_min": 0, "sigma_data": 0.5, "model_type": "DhariwalUNet", "model_channels": 192,
         "channel_mult": [1, 2, 3, 4])";
  const auto flat =
      parse_model_config(R"({"class_name": "training.networks.EDMPrecond", )" + fields + "}");
  const auto nested =
      parse_model_config(R"({"class_name": "EDMPrecond", "init_kwargs": {)" + fields + "}}");
  EXPECT_EQ(flat, nested);
  EXPECT_EQ(flat.network, nets::unet_preset("imagenet64"));
  EXPECT_EQ(flat.gpu_arithmetic, at::kHalf);
  EXPECT_EQ(flat.preconditioning.sigma_max(), std::numeric_limits<double>::infinity());
}

TEST(ModelConfig, KeepsTheArithmeticOfTheTraining) {
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    const ModelConfig config{.gpu_arithmetic = type};
    EXPECT_EQ(parse_model_config(to_json(config)), config);
  }
  EXPECT_EQ(error_of([] { parse_model_config(R"({"use_fp16": true, "use_bf16": true})"); }),
            "model config: use_fp16 and use_bf16 exclude each other");
}

TEST(ModelConfig, IddpmNetworksPredictAVarianceToo) {
  const auto config = parse_model_config(
      R"({"class_name": "iDDPMPrecond", "model_type": "DhariwalUNet", "sigma_min": 0.006})");
  EXPECT_EQ(config.network.out_channels, 6);
  EXPECT_EQ(config.preconditioning, Preconditioning{.kind = Kind::iddpm});
}

TEST(ModelConfig, NamesWhatItDoesNotKnow) {
  EXPECT_NE(error_of([] { parse_model_config(R"({"class_name": "Precond2"})"); }).find("Precond2"),
            std::string::npos);
  EXPECT_NE(
      error_of([] { parse_model_config(R"({"logvar_channels": 128})"); }).find("logvar_channels"),
      std::string::npos);
  EXPECT_NE(error_of([] { parse_model_config(R"({"sigma_data": "half"})"); }).find("sigma_data"),
            std::string::npos);
  EXPECT_NE(error_of([] { parse_model_config("[]"); }).find("JSON object"), std::string::npos);
  EXPECT_EQ(error_of([] { parse_model_config(R"({"show_skip": true})"); }),
            "model config: show_skip is for AnisotropicPrecond only");
}

}  // namespace
}  // namespace eps
