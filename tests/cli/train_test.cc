// eps train as a user runs it: folders, resuming, crashes, several processes, wrong input.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "eps/io/images/image.h"
#include "eps/model/checkpoint.h"
#include "eps/training/run.h"
#include "eps/training/run_directory.h"
#include "tests/program.h"

namespace eps {
namespace {

using nlohmann::json;

const std::string kTiny =
    " --data synthetic:size=16,count=64 --holdout 16 --tasks random_inpainting super_resolution_4x"
    " --preset tiny --batch 16 --preview-images 2 --validation-images 16 --device cpu ";

Outcome eps_train(const std::string& arguments, const std::string& environment = "") {
  return run_program("OMP_NUM_THREADS=1 " + environment + " " + EPS_PROGRAM,
                     "--threads 1 train " + arguments);
}

std::vector<json> lines_of(const std::string& path) {
  std::vector<json> lines;
  std::istringstream text(get_bytes(path));
  for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
  return lines;
}

double difference(const std::string& a, const std::string& b) {
  const Safetensors x = read_safetensors(a), y = read_safetensors(b);
  check(x.tensors.size() == y.tensors.size(), a, " and ", b, " hold different tensors");
  double most = 0;
  for (const auto& [name, tensor] : x.tensors)
    most = std::max(most, (tensor - y.tensors.at(name)).abs().max().item<double>());
  return most;
}

std::string state_name(int64_t images) { return fmt::format("/state-{:012d}.safetensors", images); }

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

  // The verbs for priors say what it is.
  const Outcome sampled = run_program(
      EPS_PROGRAM, "sample " + run + "/network.safetensors --out " + folder.file("a.png"));
  EXPECT_EQ(sampled.status, 2);
  EXPECT_NE(
      sampled.output.find("a network for the input eps; this verb needs one for the input prior"),
      std::string::npos)
      << sampled.output;
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
  }
  EXPECT_NE(eps_train("--out " + folder.file("none") + " --input indi")
                .output.find("the input indi needs a task"),
            std::string::npos);
}

TEST(TrainingRun, ResumedEqualsUninterrupted) {
  const Folder folder;
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  const std::string every = kTiny + "--log-every 32 --save-every 64 ";
  ASSERT_EQ(eps_train("--out " + whole + every + "--images 256").status, 0);
  ASSERT_EQ(eps_train("--out " + parts + every + "--images 128").status, 0);
  const Outcome outcome = eps_train("--resume " + parts + " --images 256");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(difference(whole + state_name(256), parts + state_name(256)), 0);
  EXPECT_EQ(lines_of(parts + "/log.jsonl").back()["images"], 256);
}

// Killed at a moment of its own choosing, with the newest state cut short as a power cut would
// leave a disk that lies about fsync: the run goes on from the state before, to the same end.
TEST(TrainingRun, SurvivesKillsAndBrokenStates) {
  const Folder folder;
  const std::string whole = folder.file("whole"), broken = folder.file("broken");
  const std::string every = kTiny + "--log-every 16 --save-every 32 --images 640 ";
  ASSERT_EQ(eps_train("--out " + whole + every).status, 0);
  // The shell's own time-out kills it between its second state and the end.
  eps_train("--out " + broken + every + "& pid=$!; while [ ! -f " + broken + state_name(96) +
            " ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done; kill -9 $pid; wait $pid");
  ASSERT_FALSE(std::filesystem::exists(broken + state_name(640)));
  const auto newest = training::RunDirectory::open(broken).newest_state({}).value();
  ASSERT_GE(newest.images, 64);
  put_bytes(newest.name, get_bytes(newest.name).substr(0, 1000));
  put_bytes(broken + "/log.jsonl", get_bytes(broken + "/log.jsonl") + "{\"images\": 12");
  const Outcome outcome = eps_train("--resume " + broken);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("taking the state before it"), std::string::npos) << outcome.output;
  EXPECT_EQ(difference(whole + state_name(640), broken + state_name(640)), 0);
  EXPECT_EQ(lines_of(broken + "/log.jsonl").size(), lines_of(whole + "/log.jsonl").size());
}

// Asked twice at once, as timeout does, which signals the process and then its group.
TEST(TrainingRun, StopsWhenAskedAndSaysHowToGoOn) {
  const Folder folder;
  const std::string run = folder.file("run");
  const Outcome outcome = eps_train("--out " + run + kTiny +
                                    "--save-every 16 --images 100000 2>&1 & pid=$!; while [ ! -f " +
                                    run + state_name(32) +
                                    " ]; do sleep 0.01; done; kill -INT $pid; kill -INT $pid; "
                                    "wait $pid");
  EXPECT_NE(outcome.output.find("resume with eps train --resume " + run), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.status, 130);  // of SIGINT, so that a script does not go on
}

// A save that was cut short, or a user, left the run without the network of its last state.
TEST(TrainingRun, AFinishedRunGetsItsNetworkBack) {
  const Folder folder;
  const std::string run = folder.file("run"), network = run + "/network.safetensors";
  ASSERT_EQ(eps_train("--out " + run + kTiny + "--images 64 --keep-every 32").status, 0);
  const std::string whole = get_bytes(network);
  const std::string older = get_bytes(run + "/network-000000000032.safetensors");
  for (const std::string& left : {std::string(), older, whole.substr(0, 1000)}) {
    put_bytes(network, left);
    if (left.empty()) std::filesystem::remove(network);
    const Outcome outcome = eps_train("--resume " + run);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(get_bytes(network), whole);
  }
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

// Killed before its configuration had a name: there is nothing to go on with.
TEST(TrainingRun, BeginsAnewWhereNothingWasBegun) {
  const Folder folder;
  const std::string run = folder.file("run");
  std::filesystem::create_directory(run);
  put_bytes(run + "/lock", "");
  put_bytes(run + "/config.json.12.0.tmp", "{");
  const Outcome outcome = eps_train("--out " + run + kTiny + "--images 16");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Processes share the batch, its noise and its order, so their number does not matter; and a run
// may go on with another number.
TEST(TrainingRun, TwoRanksEqualOne) {
  const Folder folder;
  const std::string one = folder.file("one"), two = folder.file("two");
  const std::string every = kTiny + "--rampup 100 --log-every 32 --save-every 160 ";
  ASSERT_EQ(eps_train("--out " + one + every + "--images 320").status, 0);
  const auto ranks = [&](const std::string& arguments) {
    const int port = 20000 + ::getpid() % 20000;
    std::vector<Outcome> outcomes(2);
    std::vector<std::thread> processes;
    for (size_t rank = 0; rank < 2; ++rank)
      processes.emplace_back([&, rank] {
        outcomes[rank] = eps_train(
            arguments,
            fmt::format("RANK={} WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT={}", rank, port));
      });
    for (auto& process : processes) process.join();
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, 0) << outcome.output;
  };
  ranks("--out " + two + every + "--images 320");
  EXPECT_LT(difference(one + "/network.safetensors", two + "/network.safetensors"), 1e-5);
  ASSERT_EQ(eps_train("--resume " + one + " --images 480").status, 0);
  ASSERT_EQ(eps_train("--resume " + two + " --images 480").status, 0);
  EXPECT_LT(difference(one + "/network.safetensors", two + "/network.safetensors"), 1e-4);
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

TEST(TrainingRun, ResumesFromTheBeginningWhenNothingWasSaved) {
  const Folder folder;
  const std::string whole = folder.file("whole"), run = folder.file("run");
  ASSERT_EQ(eps_train("--out " + whole + kTiny + "--images 64").status, 0);
  ASSERT_EQ(eps_train("--out " + run + kTiny + "--images 64").status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(run))
    if (entry.path().filename() != "config.json") std::filesystem::remove(entry.path());
  put_bytes(run + "/state-1.safetensors.1.2.tmp", "cut short");
  const Outcome outcome = eps_train("--resume " + run);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(difference(whole + state_name(64), run + state_name(64)), 0);
}

TEST(TrainingRun, ResumingRefusesOtherData) {
  const Folder folder;
  const std::string run = folder.file("run");
  ASSERT_EQ(eps_train("--out " + run + kTiny + "--images 64").status, 0);
  const auto resume = [&](const std::string& arguments) {
    const Outcome outcome = eps_train("--resume " + run + " --images 96 " + arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    return outcome.output;
  };
  EXPECT_EQ(resume("--data synthetic:size=32,count=64"),
            "eps: " + run + ": a network for 16 pixels a side; the data have 32\n");
  EXPECT_EQ(resume("--data synthetic:size=16,count=80"),
            "eps: training state: made with a data set of 48 images, which cannot become 64\n");
  EXPECT_EQ(resume("--batch 8"),
            "eps: training: batch is 16 in the run and cannot become 8 when it is resumed\n");
  // A refused run keeps its log, lines after the last state included.
  const std::string log = get_bytes(run + "/log.jsonl") + "{\"images\": 80}\n";
  put_bytes(run + "/log.jsonl", log);
  resume("--data synthetic:size=32,count=64");
  EXPECT_EQ(get_bytes(run + "/log.jsonl"), log);
  const std::string config = get_bytes(run + "/config.json");
  const Outcome done = eps_train("--resume " + run + " --images 32");
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.output, "eps: " + run + " has seen 64 images already, and 32 are wanted\n");
  EXPECT_EQ(get_bytes(run + "/config.json"), config);
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
  expect("--out " + run +
             " --data synthetic:size=16,count=8 --preset tiny --preconditioning anisotropic "
             "--tasks 'blur_gaussian:std=0.6,size=5 | inpaint_random:missing=0.5'",
         "the tasks do not go with input=eps and preconditioning=anisotropic");
  expect("--out " + run + kTiny + "--start " + folder.file("nothing.safetensors"),
         "arch, preset and dropout belong to a network from scratch");
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
