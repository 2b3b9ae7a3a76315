// What is not read of other programs' networks is named, and nothing else than an Error is thrown.
#include <random>

#include "eps/model/checkpoint.h"
#include "eps/model/foreign/families.h"
#include "eps/model/preconditioned_query.h"
#include "tests/model/foreign_networks.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

std::string refusal(const Safetensors& file, const std::string& options = "") {
  const NetworkFamily* family = family_of(file);
  if (family == nullptr) return error_of([&] { checkpoint_from(file, "f"); });
  const std::string spec = family->name + (options.empty() ? "" : ":" + options);
  return error_of([&] { family->read(file, Spec::parse(spec).resolve(family->fields)); });
}

TEST(ForeignRefusals, NameTheTensorOfGuidedDiffusion) {
  const Safetensors whole = foreign_network("adm_classes").state;
  const auto changed = [&](auto change) {
    Safetensors file = whole;
    change(file.tensors);
    return refusal(file, "head_channels=16");
  };
  EXPECT_EQ(changed([](auto& t) { t.erase("out.2.bias"); }), "tensor 'out.2.bias' is missing");
  EXPECT_EQ(changed([](auto& t) { t.erase("time_embed.0.weight"); }),
            "tensor 'time_embed.0.weight' is missing");
  EXPECT_EQ(changed([](auto& t) { t["extra"] = at::ones({1}); }), "unknown tensor 'extra'");
  EXPECT_EQ(changed([](auto& t) { t["middle_block.2.in_layers.2.weight"] = at::ones({3}); }),
            "tensor 'middle_block.2.in_layers.2.weight' must be 64 x 64 x 3 x 3, got 3");
  EXPECT_EQ(changed([](auto& t) {
              t["input_blocks.0.0.weight"] = at::ones({32, 6, 3, 3});
            }),
            "a network with 6 inputs and 6 outputs; one of images alone is wanted, with as many "
            "outputs or twice as many");
  EXPECT_EQ(changed([](auto& t) { t["first_stage_model.x"] = at::ones({1}); }),
            "a network of latent images, which are no pixels; networks of pixels are read");
  EXPECT_EQ(changed([](auto& t) { t["ema.input_blocks.0.0.weight"] = at::ones({1}); }),
            "holds 2 networks, such as 'ema.input_blocks.0.0.weight'; a file with one is wanted");
}

TEST(ForeignRefusals, SayWhatMustBeStated) {
  const Safetensors convolutions = foreign_network("adm_convolutions").state;
  for (const char* options : {"", "heads=4", "schedule=cosine"})
    EXPECT_NE(refusal(convolutions, options).find("heads=4,schedule=cosine"), std::string::npos);
  const Safetensors ffhq = foreign_network("adm_ffhq").state;
  EXPECT_NE(refusal(ffhq).find("state them, as in guided_diffusion:file=FILE,heads=4"),
            std::string::npos);
  EXPECT_NE(refusal(ffhq, "heads=4,head_channels=8").find("one of them"), std::string::npos);
  EXPECT_NE(refusal(ffhq, "head_channels=8,size=18").find("multiple of 4"), std::string::npos);
}

// What tensors do not tell decides the answer.
TEST(ForeignRefusals, EveryStatedValueCounts) {
  const Folder folder;
  const ForeignNetwork network = foreign_network("adm_new_order");
  const std::string path = write_foreign(folder, network);
  const std::string file = path.substr(0, path.find(','));
  const std::string right = ",head_channels=8,attention=new,schedule=cosine,size=16";
  for (const auto& [from, to] : {std::pair{"head_channels=8", "head_channels=16"},
                                 {"attention=new", "attention=legacy"},
                                 {"schedule=cosine", "schedule=linear"},
                                 {"size=16", "size=16,steps=500"},
                                 {"size=16", "size=16,prediction=v"}}) {
    std::string wrong = right;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    const Checkpoint model = load_network(file + wrong);
    const Tensor mean = denoise(
        model.network, model.preconditioning, network.answers.at("x"), network.answers.at("sigma"));
    EXPECT_GT(relative_error(mean, network.answers.at("D")), 1e-3) << to;
  }
  EXPECT_EQ(load_network(file + ",head_channels=8,size=64").network.config().img_resolution, 64);
}

TEST(ForeignRefusals, NameTheFieldOfDiffusers) {
  const ForeignNetwork network = foreign_network("unet2d_new");
  const auto with = [&](const std::string& part, const std::string& field, const auto& value) {
    Safetensors file = network.state;
    auto unet = nlohmann::json::parse(network.network);
    auto scheduler = nlohmann::json::parse(network.scheduler);
    (part == "config" ? unet : scheduler)[field] = value;
    file.metadata = {{"diffusers_config", unet.dump()}, {"diffusers_scheduler", scheduler.dump()}};
    return refusal(file);
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(with("config", "_class_name", "UNet2DConditionModel"),
            "config.json: _class_name must be \"UNet2DModel\", got \"UNet2DConditionModel\"");
  EXPECT_EQ(with("config", "down_block_types", List{"SkipDownBlock2D", "DownBlock2D"}),
            "config.json: down_block_types must be DownBlock2D or AttnDownBlock2D, got "
            "'SkipDownBlock2D'");
  EXPECT_NE(with("config", "up_block_types", List{"UpBlock2D", "UpBlock2D"}).find("same levels"),
            std::string::npos);
  EXPECT_EQ(with("config", "mid_block_scale_factor", 1.4),
            "config.json: mid_block_scale_factor must be 1, got 1.4");
  EXPECT_EQ(with("config", "layers_per_block", "two"),
            "config.json: layers_per_block must be a whole number, got \"two\"");
  EXPECT_NE(with("config", "norm_num_groups", 7).find("7 equal groups"), std::string::npos);
  EXPECT_NE(with("config", "sample_size", nullptr).find("state size=64"), std::string::npos);
  EXPECT_NE(with("scheduler", "prediction_type", "flow").find("epsilon, sample or v_prediction"),
            std::string::npos);
  EXPECT_NE(with("scheduler", "beta_schedule", "sigmoid").find("squaredcos_cap_v2"),
            std::string::npos);
  EXPECT_NE(with("scheduler", "rescale_betas_zero_snr", true).find("must be false"),
            std::string::npos);
  EXPECT_NE(with("scheduler", "trained_betas", std::vector<double>{0.1, 0.2}).find("1000 betas"),
            std::string::npos);
  EXPECT_NE(refusal(network.state).find("give the folder that has both"), std::string::npos);
}

TEST(ForeignRefusals, AFolderWithoutASchedulerNeedsOneStated) {
  const Folder folder;
  const std::string path = write_foreign(folder, foreign_network("unet2d_new"));
  std::filesystem::remove(path + "/scheduler_config.json");
  EXPECT_EQ(error_of([&] { load_network(path); }),
            path +
                ": there is no scheduler_config.json beside or above the network; state schedule "
                "and prediction, as in diffusers:file=FOLDER,schedule=linear,prediction=epsilon");
  const Checkpoint model =
      load_network("diffusers:file=" + path + ",schedule=cosine,prediction=v,steps=100,size=32");
  EXPECT_EQ(model.preconditioning.beta_schedule, "cosine");
  EXPECT_EQ(model.preconditioning.prediction, "v");
  EXPECT_EQ(model.preconditioning.M, 100);
  EXPECT_EQ(model.network.config().img_resolution, 32);
}

TEST(ForeignRefusals, AFileOfNoFamilyIsAnsweredWithWhatIsRead) {
  const std::string words = refusal({{{"features.0.weight", at::ones({2, 2})}}, {}});
  for (const char* word : {"f: is no network",
                           "'features.0.weight'",
                           "model.*",
                           "input_blocks.*",
                           "UNet2DModel",
                           "torchscript:file="})
    EXPECT_NE(words.find(word), std::string::npos) << words;
  EXPECT_EQ(words.find('\n'), std::string::npos);
  const Folder folder;
  put_bytes(folder.file("a.onnx"), std::string("\x08\x08\x12\x07pytorch", 11));
  EXPECT_NE(error_of([&] { load_network(folder.file("a.onnx")); }).find("ONNX"), std::string::npos);
}

// Tensors of wrong shapes, or gone, are Errors; memory is bounded by that of the file.
TEST(ForeignRefusals, HostileShapesAreErrors) {
  const Safetensors whole = foreign_network("adm_classes").state;
  std::mt19937 random(1);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  int refused = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    Safetensors file = whole;
    for (int64_t k = below(3); k >= 0; --k) {
      const auto entry = std::next(file.tensors.begin(), below(std::ssize(file.tensors)));
      // Those that decide the sizes more often than others.
      static const char* const kDecisive[] = {"input_blocks.0.0.weight",
                                              "time_embed.0.weight",
                                              "out.2.weight",
                                              "label_emb.weight",
                                              "input_blocks.1.0.in_layers.2.weight",
                                              "output_blocks.2.2.in_layers.2.weight"};
      const std::string name = below(2) ? entry->first : kDecisive[below(6)];
      Shape shape;
      for (int64_t d = below(5); d > 0; --d) shape.push_back(below(4) ? below(70) : 0);
      if (below(3))
        file.tensors[name] = at::zeros({}).expand(shape);
      else
        file.tensors.erase(name);
    }
    try {
      as_checkpoint(file);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(refused, kTrials / 2);
}

}  // namespace
}  // namespace eps
