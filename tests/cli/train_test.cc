// eps train as a user runs it: folders, data, losses, wrong input.
#include <nlohmann/json.hpp>
#include <thread>

#include "eps/io/images/image.h"
#include "eps/model/checkpoint.h"
#include "eps/training/run.h"
#include "eps/training/run_directory.h"
#include "tests/cli/train_program.h"

namespace eps {
namespace {

using nlohmann::json;

TEST(TrainingRun, LeavesAllThatIsPromised) {
  const Folder folder;
  const std::string run = folder.file("run");
  const Outcome outcome = eps_train("--out " + run + kTiny +
                                    "--images 320 --log-every 64 --validate-every 160 "
                                    "--save-every 64 --preview-every 320 --keep-every 160");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");  // quiet when not a terminal
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    names.push_back(entry.path().string().substr(run.size()));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"/config.json",
                                      "/lock",
                                      "/log.jsonl",
                                      "/network-000000000160.safetensors",
                                      "/network-000000000320.safetensors",
                                      "/network.safetensors",
                                      "/preview-000000000320.png",
                                      state_name(256),
                                      state_name(320)}));
  EXPECT_EQ(read_checkpoint(run + "/network-000000000160.safetensors").provenance.images_seen, 160);
  EXPECT_EQ(difference(run + "/network-000000000320.safetensors", run + "/network.safetensors"), 0);
  const json config = json::parse(get_bytes(run + "/config.json"));
  EXPECT_EQ(config["batch"], 16);
  EXPECT_EQ(config["save_every"], 64);
  int64_t logged = 0, validated = 0;
  for (const json& line : lines_of(run + "/log.jsonl")) {
    if (line.contains("loss")) {
      ++logged;
      EXPECT_GT(line["images_per_second"].get<double>(), 0);
      EXPECT_TRUE(line["loss_by_sigma"].contains("0.1-0.3"));
      EXPECT_GE(line["learning_rate"].get<double>(), 0);
      EXPECT_GT(line["gradient_norm"].get<double>(), 0);
    } else {
      ++validated;
      EXPECT_GT(line["validation_loss_by_sigma"]["1-3"].get<double>(), 0);
    }
  }
  EXPECT_EQ(logged, 5);
  EXPECT_EQ(validated, 2);
  const Checkpoint model = read_checkpoint(run + "/network.safetensors");
  EXPECT_EQ(model.input, NetworkInput::eps);
  EXPECT_EQ(model.provenance.images_seen, 320);
  EXPECT_EQ(model.provenance.tasks.size(), 2u);

  // It is its own prior.
  const Outcome sampled = run_program(EPS_PROGRAM,
                                      "sample " + run + "/network.safetensors --seeds 0 --steps 2" +
                                          " --device cpu --out " + folder.file("a.png"));
  EXPECT_EQ(sampled.status, 0) << sampled.output;
}

// A network of a bridge from the first image to the table of runs.
TEST(TrainingRun, TrainsBridges) {
  const Folder folder;
  for (const char* input : {"indi", "i2sb"}) {
    const std::string run = folder.file(input);
    const Outcome outcome =
        eps_train("--out " + run + kTiny + "--images 64 --preview-every 64 --input " + input);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(to_string(read_checkpoint(run + "/network.safetensors").input), input);
    EXPECT_TRUE(std::filesystem::exists(run + "/preview-000000000064.png"));
    const json bands = lines_of(run + "/log.jsonl").back()["validation_loss_by_sigma"];
    EXPECT_GT(bands["0.1-0.3"].get<double>(), 0);
    EXPECT_TRUE(bands["1-3"].is_null());
    const Outcome table = run_program(EPS_PROGRAM, "runs " + run);
    EXPECT_NE(table.output.find(std::string(" | ") + input + " | edm | 64 | "), std::string::npos)
        << table.output;
    // The verbs for priors say what it is.
    const Outcome sampled = run_program(
        EPS_PROGRAM, "sample " + run + "/network.safetensors --out " + folder.file("a.png"));
    EXPECT_EQ(sampled.status, 2);
    EXPECT_NE(sampled.output.find(std::string("a network for the input ") + input +
                                  "; this verb needs one for the input prior"),
              std::string::npos)
        << sampled.output;
  }
  EXPECT_NE(eps_train("--out " + folder.file("none") + " --input indi")
                .output.find("the input indi needs a task"),
            std::string::npos);
}

TEST(TrainingRun, IsOfOneProcess) {
  const Folder folder;
  const std::string run = folder.file("run");
  ASSERT_EQ(eps_train("--out " + run + kTiny + "--images 64").status, 0);
  const auto lock = training::RunDirectory::open(run).lock();
  const std::string log = get_bytes(run + "/log.jsonl");
  const Outcome outcome = eps_train("--resume " + run + " --images 128");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output, "eps: " + run + ": another process is training in this folder\n");
  EXPECT_EQ(get_bytes(run + "/log.jsonl"), log);
}

TEST(TrainingRun, ReadsNoHostileConfigurations) {
  const Folder folder;
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const auto error = [&](const std::string& text) {
    put_bytes(folder.file("c.json"), text);
    const Outcome outcome =
        eps_train("--config " + folder.file("c.json") + " --out " + folder.file("run"));
    EXPECT_EQ(outcome.status, 2);
    return outcome.output;
  };
  const std::string start = "eps: " + folder.file("c.json") + ": ";
  EXPECT_EQ(error("{\"images\":" + deep + "}"), start + "nests deeper than 64 levels\n");
  EXPECT_EQ(error(R"({"a\nb": 1})"), start + "unknown field \"a\\x0ab\"\n");
  EXPECT_EQ(eps_train("--out " + folder.file("run") + " --seed 9223372036854775808").status, 2);
}

TEST(TrainingRun, TakesDataOfAnyName) {
  const Folder folder;
  const std::string data = folder.file("im\xff"), run = folder.file("run");
  std::filesystem::create_directory(data);
  for (const char* name : {"/a.png", "/b.png"})
    write_png(data + name, at::full({3, 16, 16}, 100, at::kByte));
  const Outcome outcome = eps_train("--out " + run + " --data " + data +
                                    " --input prior --preset tiny --batch 2 --images 4");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(json::parse(get_bytes(run + "/config.json"))["data"][0].get<std::string>(),
            folder.file("im\xef\xbf\xbd"));
}

// The run ends when the loss tells, and what it has saved is good.
TEST(TrainingRun, EndsAtALossThatIsNotFinite) {
  const Folder folder;
  const std::string run = folder.file("run");
  const Outcome outcome = eps_train("--out " + run + kTiny +
                                    "--images 4096 --save-every 16 --log-every 16 "
                                    "--learning-rate 1e30 --rampup 100000");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("eps: training: the "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find(" not finite "), std::string::npos) << outcome.output;
  const auto state = training::RunDirectory::open(run).newest_state({});
  ASSERT_TRUE(state);
  for (const auto& [name, tensor] : state->file.tensors)
    EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
}

// Chains, stacks and operators without a fast basis are trained on as others are.
TEST(TrainingRun, TakesOperatorsWithoutAFastBasis) {
  const Folder folder;
  const Outcome trained = run_program(
      EPS_PROGRAM,
      "train --out " + folder.file("run") +
          " --data synthetic:size=16,count=8 --preset tiny --preconditioning anisotropic --input "
          "eps_precision --show-skip --images 8 --batch 4 --tasks 'blur_gaussian:std=0.6,size=5 | "
          "inpaint_random:missing=0.5' 'super_resolution:factor=4 + inpaint_random:missing=0.8' "
          "radon:angles=4");
  EXPECT_EQ(trained.status, 0) << trained.output;
  const Outcome restored =
      run_program(EPS_PROGRAM, "convert --show " + folder.file("run/network.safetensors"));
  EXPECT_EQ(restored.status, 0) << restored.output;
}

// Every task is tried before the run has a folder, also those whose turn would come much later.
TEST(TrainingRun, TriesTasksOfLongRuns) {
  const Folder folder;
  const std::string run = folder.file("run");
  const Outcome outcome = eps_train(
      "--out " + run + " --data synthetic:size=16,count=64 --preset tiny --batch 16 --device cpu " +
      "--images 64 --task-run 1000 --tasks identity blur_gaussian:std=1,size=99");
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("does not fit an image of 16 x 16"), std::string::npos)
      << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(run));
}

TEST(TrainingRun, WrongInputIsNamedAndNothingIsOverwritten) {
  const Folder folder;
  const std::string run = folder.file("run");
  const auto expect = [&](const std::string& arguments, const std::string& message) {
    const Outcome outcome = eps_train(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_NE(outcome.output.find(message), std::string::npos) << outcome.output;
  };
  expect("--images 3", "either --out RUN for a new run or --resume RUN is wanted");
  expect("--resume " + run, ": no training run there");
  const Outcome compared = run_program(EPS_PROGRAM, "runs " + run);
  EXPECT_EQ(compared.status, 2);
  EXPECT_EQ(compared.output, "eps: " + run + ": no training run there: it has no config.json\n");
  expect("--out " + run + " --tasks box_inpaint", "unknown task \"box_inpaint\"");
  expect("--out " + run + " --tasks box_inpainting --data " + folder.file("nothing"), "nothing");
  expect("--out " + run + kTiny + "--sigma-y banana", "banana");
  expect("--out " + run + kTiny + "--input pivot_sigma --sigma-y 0", "need sigma_y > 0");
  expect("--out " + run + kTiny + "--start " + folder.file("nothing.safetensors"),
         "belong to a network from scratch");
  expect("--out " + run + kTiny + "--loss-scaling 0", "loss_scaling must be > 0");
  EXPECT_FALSE(std::filesystem::exists(run));
  std::filesystem::create_directory(folder.file("empty"));
  expect("--out " + run + " --tasks box_inpainting --data " + folder.file("empty"), "empty");
  std::filesystem::create_directory(run);
  put_bytes(run + "/thesis.txt", "all of it");
  expect("--out " + run + kTiny, "exists and is not empty");
  EXPECT_EQ(get_bytes(run + "/thesis.txt"), "all of it");
}

}  // namespace
}  // namespace eps
