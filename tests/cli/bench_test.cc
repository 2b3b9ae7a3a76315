// eps bench, as a user calls it: an experiment end to end, cut short, shared out and misused.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/base/random.h"
#include "eps/io/npy.h"
#include "eps/model/checkpoint.h"
#include "tests/program.h"
#include "tests/small_checkpoints.h"

namespace eps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Two cells under a known prior.
const std::string kTwoCells = R"({
  "title": "Two cells", "data": "exact:prior=mixture,size=4", "images": 6, "samples": 4,
  "tasks": ["inpaint_random:missing=0.5"],
  "methods": [{"label": "EPS", "method": "eps", "steps": [10]},
              {"label": "DPS", "method": "dps:scale=0.2,steps=60"}],
  "metrics": ["psnr", "energy_score", "lpips"], "plots": [{"x": "nfe", "y": "psnr"}],
  "sheet": "samples"})";

class Bench : public testing::Test {
 protected:
  Bench() { put_bytes(file_, kTwoCells); }

  std::string command(const std::string& out, const std::string& rest = "") const {
    return std::string("bench ") + file_ + " --threads 1 --out " + out + " " + rest;
  }
  Outcome bench(const std::string& out, const std::string& rest = "") const {
    return run_program(EPS_PROGRAM, command(out, rest));
  }
  // The rows without what differs from run to run.
  static json rows(const std::string& out) {
    json all = json::parse(get_bytes(out + "/rows.json"));
    for (auto& row : all) row.erase("seconds");
    return all;
  }

  const Folder folder_;
  const std::string file_ = folder_.file("two.json"), out_ = folder_.file("out");
};

TEST_F(Bench, RunsTwoCellsEndToEnd) {
  const Outcome outcome = bench(out_, "--images 400 --batch 400");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("[2/2] inpaint_random:missing=0.5, DPS: PSNR"), std::string::npos)
      << outcome.output;
  const json all = rows(out_);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["method"], "EPS");
  EXPECT_EQ(all[0]["nfe"], 10);
  EXPECT_EQ(all[1]["vjps"], 60);
  // The exact method is better, by five standard errors.
  const auto score = [&](size_t i, const char* number) {
    return all[i]["metrics"]["energy_score"][number].get<double>();
  };
  EXPECT_LT(score(0, "value") + 5 * std::hypot(score(0, "se"), score(1, "se")), score(1, "value"));
  EXPECT_EQ(all[0]["absent"]["lpips"], "needs LPIPS weights");
  const std::string page = get_bytes(out_ + "/report.html");
  for (const char* words : {"Two cells", "<svg", "data:image/png;base64", "Energy score"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_NE(get_bytes(out_ + "/report.md").find("**"), std::string::npos);
  EXPECT_NE(get_bytes(out_ + "/rows.csv").find("energy_score"), std::string::npos);
  int64_t cells = 0;
  for (const auto& cell : fs::directory_iterator(out_ + "/cells")) {
    EXPECT_EQ(map_npy(cell.path().string() + "/samples.npy").sizes(),
              at::IntArrayRef({4, 400, 1, 4, 4}));
    ++cells;
  }
  EXPECT_EQ(cells, 2);
}

TEST_F(Bench, GoesOnAfterAKillWithTheSameRows) {
  const std::string cut = folder_.file("cut");
  // Killed as soon as the first cell is finished, in the middle of the second.
  const Outcome killed = run_program(
      "sh",
      "-c '" + std::string(EPS_PROGRAM) + " " + command(cut, "--images 40") + " & while ! ls " +
          cut + "/cells/*/row.json >/dev/null 2>&1; do sleep 0.01; done; kill -9 $!; wait'");
  int64_t finished = 0;
  for (const auto& cell : fs::directory_iterator(cut + "/cells"))
    finished += fs::exists(cell.path() / "row.json");
  EXPECT_EQ(finished, 1) << killed.output;
  const Outcome again = bench(cut, "--images 40");
  ASSERT_EQ(again.status, 0) << again.output;
  EXPECT_EQ(again.output.find("[1/2]"), std::string::npos) << again.output;
  EXPECT_NE(again.output.find("[2/2]"), std::string::npos) << again.output;
  ASSERT_EQ(bench(out_, "--images 40").status, 0);
  EXPECT_EQ(rows(cut), rows(out_));
  // Nothing is left of what was cut short, and nothing is done a third time.
  for (const auto& entry : fs::recursive_directory_iterator(cut + "/cells")) {
    static const std::vector<std::string> known = {
        "row.json", "sampling.json", "samples.npy", "glimpse.safetensors", "lock"};
    if (entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << name;
  }
  EXPECT_EQ(bench(cut, "--images 40").output.find("["), std::string::npos);
}

TEST_F(Bench, AnInterruptLeavesAReportOfAllThatIsFinished) {
  const Outcome stopped = run_program(
      "sh",
      "-c '" + std::string(EPS_PROGRAM) + " " + command(out_, "--images 40") + " & while ! ls " +
          out_ + "/cells/*/row.json >/dev/null 2>&1; do sleep 0.01; done; kill -INT $!; wait $!'");
  EXPECT_EQ(stopped.status, 1) << stopped.output;
  EXPECT_NE(stopped.output.find("interrupted; the same command resumes"), std::string::npos)
      << stopped.output;
  const json all = rows(out_);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["error"], "");
  EXPECT_EQ(all[1]["error"], "not run yet");
  EXPECT_EQ(bench(out_, "--images 40").status, 0);
}

TEST_F(Bench, SharesCellsOutOverProcesses) {
  const std::string shared = folder_.file("shared");
  const auto as_rank = [&](int rank) {
    return run_program(
        "env",
        "RANK=" + std::to_string(rank) + " WORLD_SIZE=2 " + EPS_PROGRAM + " " + command(shared));
  };
  const Outcome first = as_rank(0);
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_NE(first.output.find("1 of 2 cells, 1 left to other processes"), std::string::npos)
      << first.output;
  const Outcome second = as_rank(1);
  EXPECT_EQ(second.status, 0) << second.output;
  ASSERT_EQ(bench(out_).status, 0);
  EXPECT_EQ(rows(shared), rows(out_));
}

TEST_F(Bench, ProcessesStartedTogetherDoNotGetInEachOthersWay) {
  // Two rows score the same samples, and all processes make the folder at once.
  put_bytes(file_, R"({"title": "N", "data": "exact:size=4", "images": 3, "samples": 3,
    "tasks": ["identity", "inpaint_random:missing=0.5"],
    "methods": [{"label": "EPS", "method": "eps", "steps": [2]},
                {"label": "Mean", "method": "eps", "steps": [2], "score": "mean"}],
    "metrics": ["psnr"]})");
  for (int round = 0; round < 3; ++round) {
    const std::string out = folder_.file("round" + std::to_string(round));
    std::string together;
    for (int rank = 0; rank < 3; ++rank)
      together += "RANK=" + std::to_string(rank) + " WORLD_SIZE=3 " + EPS_PROGRAM + " " +
                  command(out, "--discard-samples") + " & ";
    const Outcome outcome = run_program("sh", "-c '" + together + "wait'");
    EXPECT_EQ(outcome.output.find("eps:"), std::string::npos) << outcome.output;
    for (const auto& row : rows(out)) EXPECT_EQ(row["error"], "") << row;
  }
}

TEST_F(Bench, AnImpossibleTaskDoesNotStopTheOthers) {
  put_bytes(file_, R"({"title": "N", "data": "exact:size=6", "images": 3, "samples": 2,
    "tasks": ["super_resolution_4x", "identity"],
    "methods": [{"label": "EPS", "method": "eps", "steps": [2]}], "metrics": ["psnr"]})");
  EXPECT_EQ(bench(out_).status, 1);
  const auto all = rows(out_);
  EXPECT_NE(all[0]["error"].get<std::string>().find("does not divide"), std::string::npos);
  EXPECT_EQ(all[1]["error"], "");
}

TEST_F(Bench, PicturesMayBeMoreOrFewerLater) {
  ASSERT_EQ(bench(out_).status, 0);
  std::string json = kTwoCells;
  put_bytes(file_, json.replace(json.find("\"sheet\""), 7, "\"sheet_images\": 1, \"sheet\""));
  EXPECT_EQ(bench(out_).status, 0);
}

TEST_F(Bench, AFailedCellDoesNotStopTheOthers) {
  std::string json = kTwoCells;
  const std::string good = "eps\", \"steps\": [10]";
  put_bytes(file_, json.replace(json.find(good), good.size(), "palette\""));
  const Outcome outcome = bench(out_);
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  const auto all = rows(out_);
  EXPECT_NE(all[0]["error"].get<std::string>().find("needs a denoiser for the input palette"),
            std::string::npos)
      << all[0];
  EXPECT_EQ(all[1]["error"], "");
  EXPECT_NE(get_bytes(out_ + "/report.html").find("needs a denoiser"), std::string::npos);
}

TEST_F(Bench, LeavesTheFolderOfAnotherExperimentAlone) {
  ASSERT_EQ(bench(out_).status, 0);
  const std::string before = get_bytes(out_ + "/rows.json");
  const auto refused = [&](const std::string& out, const std::string& rest, const char* words) {
    const Outcome outcome = bench(out, rest);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  };
  refused(out_, "--seed 1", "holds another experiment: its seed is 0, not 1");
  refused(out_, "--images 5", "its images is 6, not 5");
  std::string other = kTwoCells;
  put_bytes(file_, other.replace(other.find("Two cells"), 9, "Others"));
  refused(out_, "", "its title is \"Two cells\", not \"Others\"");
  EXPECT_EQ(get_bytes(out_ + "/rows.json"), before);
  const std::string full = folder_.file("full");
  fs::create_directories(full);
  put_bytes(full + "/thesis.tex", "years of work");
  refused(full, "", "holds thesis.tex, and is no folder of an experiment");
  EXPECT_FALSE(fs::exists(full + "/lock"));
  EXPECT_EQ(get_bytes(full + "/thesis.tex"), "years of work");
}

TEST_F(Bench, ScoresAgainWithoutDrawingAgain) {
  ASSERT_EQ(bench(out_).status, 0);
  const json first = rows(out_);
  std::map<std::string, fs::file_time_type> drawn;
  for (const auto& cell : fs::directory_iterator(out_ + "/cells")) {
    drawn[cell.path().string()] = fs::last_write_time(cell.path() / "samples.npy");
    fs::remove(cell.path() / "row.json");
  }
  ASSERT_EQ(bench(out_).status, 0);
  EXPECT_EQ(rows(out_), first);
  for (const auto& [cell, time] : drawn)
    EXPECT_EQ(fs::last_write_time(fs::path(cell) / "samples.npy"), time);
}

TEST_F(Bench, TheReportHasWhatEarlierCommandsFinished) {
  ASSERT_EQ(bench(out_, "--methods DPS").status, 0);
  EXPECT_EQ(rows(out_).size(), 1u);
  const Outcome second = bench(out_, "--methods EPS");
  EXPECT_NE(second.output.find("1 of 1 cells"), std::string::npos) << second.output;
  const std::string whole = folder_.file("whole");
  ASSERT_EQ(bench(whole).status, 0);
  EXPECT_EQ(rows(out_), rows(whole));
  const std::string page = get_bytes(out_ + "/report.html");
  for (const char* label : {"DPS", "EPS"}) EXPECT_NE(page.find(label), std::string::npos) << label;
  // A method that has become another one is not shown as it was, nor one that is no more.
  std::string changed = kTwoCells;
  changed.replace(changed.find("scale=0.2"), 9, "scale=0.3");
  put_bytes(file_, changed);
  ASSERT_EQ(bench(out_, "--methods EPS").status, 0);
  ASSERT_EQ(rows(out_).size(), 1u);
  EXPECT_EQ(rows(out_)[0]["method"], "EPS");
}

TEST_F(Bench, NetworksAreGivenByName) {
  const c10::NoGradGuard no_gradients;
  const std::string prior = folder_.file("prior.safetensors"), images = folder_.file("x.npy");
  write_checkpoint(prior,
                   {.network = wave_network(small_ncsnpp()), .provenance = {.images_seen = 77}});
  write_npy(images, (0.3 * Rng(1, 5).normal({5, 3, 8, 8})).clamp(-1, 1).to(at::kFloat));
  put_bytes(file_, R"({"title": "N", "images": 4, "samples": 2, "tasks": ["random_inpainting"],
    "methods": [{"label": "DDNM", "method": "ddnm", "steps": [3]},
                {"label": "EPS", "method": "eps", "steps": [3]}], "metrics": ["psnr"]})");
  const std::string data = "--device cpu --data " + images;
  const Outcome outcome = bench(out_, data + " --model prior=" + prior);
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  const auto all = rows(out_);
  EXPECT_EQ(all[0]["images_seen"], 77);
  EXPECT_EQ(all[1]["error"], "needs the network eps");
  EXPECT_NE(outcome.output.find("--model NAME=FILE"), std::string::npos) << outcome.output;
  // Samples are images.
  for (const auto& cell : fs::directory_iterator(out_ + "/cells"))
    if (fs::exists(cell.path() / "samples.npy")) {
      EXPECT_LE(map_npy((cell.path() / "samples.npy").string()).abs().max().item<double>(), 1);
    }
  // Another network takes the place of the one before it.
  const std::string longer = folder_.file("longer.safetensors");
  write_checkpoint(longer,
                   {.network = wave_network(small_ncsnpp()), .provenance = {.images_seen = 78}});
  ASSERT_EQ(bench(out_, data + " --methods DDNM --model prior=" + longer).status, 0);
  ASSERT_EQ(rows(out_).size(), 1u);
  EXPECT_EQ(rows(out_)[0]["images_seen"], 78);
  // A network of the posterior serves both, warned of once.
  const std::string own = folder_.file("own.safetensors");
  write_small_eps(own, {.tasks = {"identity"}});
  const Outcome both =
      bench(folder_.file("own"), data + " --model prior=" + own + " --model eps=" + own);
  EXPECT_EQ(both.status, 0) << both.output;
  const size_t warning = both.output.find("as a prior it is asked with all of them missing");
  EXPECT_NE(warning, std::string::npos) << both.output;
  EXPECT_EQ(both.output.find("as a prior", warning + 1), std::string::npos) << both.output;
  const auto refused = [&](const std::string& rest, const std::string& words) {
    const std::string out = folder_.file("refused");
    const Outcome wrong = bench(out, rest);
    EXPECT_EQ(wrong.status, 2);
    EXPECT_NE(wrong.output.find(words), std::string::npos) << wrong.output;
    EXPECT_FALSE(fs::exists(out));
  };
  refused(data, "no network is given; give one with --model NAME=FILE for prior, eps");
  refused("--model prior=" + prior, "names no data; give them with --data FILE");
  refused(data + " --model prior", "NAME=FILE is wanted");
  refused(data + " --model prior=" + folder_.file("none"), folder_.file("none") + ": no such file");
  refused(data + " --model prior=no-such-name", "unknown network \"no-such-name\"");
  refused(data + " --images 9 --model prior=" + prior, "5 images, the experiment needs 9");
  refused(data + " --methods XPS --model prior=" + prior, "has no method with the label XPS");
}

}  // namespace
}  // namespace eps
