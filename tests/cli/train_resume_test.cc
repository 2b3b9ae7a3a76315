// eps train, interrupted and resumed: by kills, signals, lost files, another number of processes.
#include <thread>

#include "eps/model/checkpoint.h"
#include "eps/training/run.h"
#include "eps/training/run_directory.h"
#include "tests/cli/train_program.h"

namespace eps {
namespace {

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
    return outcomes;
  };
  const std::vector<Outcome> outcomes = ranks("--out " + two + every + "--images 320");
  if (outcomes[0].output.find("need Gloo") != std::string::npos)
    GTEST_SKIP() << "built without Gloo";
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_LT(difference(one + "/network.safetensors", two + "/network.safetensors"), 1e-5);
  ASSERT_EQ(eps_train("--resume " + one + " --images 480").status, 0);
  ASSERT_EQ(eps_train("--resume " + two + " --images 480").status, 0);
  EXPECT_LT(difference(one + "/network.safetensors", two + "/network.safetensors"), 1e-4);
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

}  // namespace
}  // namespace eps
