// Runs of experiments: how often networks are read, and when the report is written.
#include "eps/experiment/runner.h"

#include <filesystem>

#include "eps/experiment/denoiser_cache.h"
#include "eps/io/file.h"
#include "eps/priors/mixture.h"
#include "tests/files.h"

namespace eps::experiment {
namespace {

// Two tasks by two methods, with a network for each method.
constexpr char kFourCells[] = R"({
  "title": "Four", "images": 3, "samples": 2, "tasks": ["identity", "inpaint_random:missing=0.5"],
  "methods": [{"label": "DDNM", "method": "ddnm", "steps": [2]},
              {"label": "EPS", "method": "eps", "steps": [2]}],
  "metrics": ["psnr"], "sheet": "none"})";

class Runner : public testing::Test {
 protected:
  Runner() {
    const auto prior = std::make_shared<Mixture>(example_mixture({1, 4, 4}, 2, 1));
    Rng rng(2, 3);
    inputs_.images.x0 = prior->sample(rng, 3);
    inputs_.bounded = false;
    for (const char* name : {"prior", "eps"}) {
      put_bytes(folder_.file(name), name);
      inputs_.models[name] = {folder_.file(name)};
    }
    inputs_.load = [this, prior](const std::string& file, const NetworkInput&, const std::string&) {
      reads_.push_back(std::filesystem::path(file).filename().string());
      return LoadedDenoiser{prior};
    };
    options_.out = folder_.file("out");
  }

  std::vector<report::Row> run() { return run_experiment(experiment_, inputs_, options_); }
  bool reported() const { return std::filesystem::exists(options_.out + "/rows.json"); }
  // The rows in the report that are finished.
  size_t finished() const {
    size_t count = 0;
    const std::string path = options_.out + "/rows.json";
    for (const auto& row : report::parse_rows(get_bytes(path), path)) count += row.error.empty();
    return count;
  }

  const Folder folder_;
  const Experiment experiment_ = parse_experiment(kFourCells, "four");
  ExperimentInputs inputs_;
  ExperimentOptions options_;
  std::vector<std::string> reads_;
};

TEST_F(Runner, ReadsEachNetworkOnce) {
  for (const auto& row : run()) EXPECT_EQ(row.error, "");
  EXPECT_EQ(reads_, (std::vector<std::string>{"prior", "eps"}));
  run();  // all is finished
  EXPECT_EQ(reads_.size(), 2u);
}

TEST_F(Runner, WritesTheReportAfterTheLastCell) {
  size_t lines = 0;
  options_.say = [&](const std::string&) {
    ++lines;
    EXPECT_FALSE(reported());
  };
  run();
  EXPECT_EQ(lines, 4u);
  EXPECT_EQ(finished(), 4u);
}

TEST_F(Runner, WritesTheReportNowAndThen) {
  size_t lines = 0;
  options_.report_every = 0;
  options_.say = [&](const std::string&) {
    if (lines > 0) {
      EXPECT_EQ(finished(), lines);
    }
    ++lines;
  };
  run();
  EXPECT_EQ(finished(), 4u);
}

TEST_F(Runner, WritesTheReportWhenItIsStoppedOrFails) {
  size_t lines = 0;
  options_.say = [&](const std::string&) { ++lines; };
  options_.stop = [&] { return lines == 2; };
  const auto rows = run();
  EXPECT_EQ(finished(), 2u);
  EXPECT_EQ(rows[2].error, kNotRunYet);
  remove_tree(options_.out);
  options_.stop = {};
  options_.say = [](const std::string&) { fail("the terminal is gone"); };
  EXPECT_EQ(error_of([&] { run(); }), "the terminal is gone");
  EXPECT_EQ(finished(), 1u);
}

TEST(DenoiserCache, HoldsADenoiserFromItsFirstUseToItsLast) {
  const Folder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  put_bytes(a, "1234");
  put_bytes(b, "1234");
  std::vector<std::weak_ptr<const Denoiser>> all;
  const auto load = [&](const std::string&, const NetworkInput&, const std::string&) {
    const auto prior = std::make_shared<Mixture>(example_mixture({1, 2, 2}, 1, 1));
    all.push_back(prior);
    return LoadedDenoiser{prior};
  };
  const auto use = [](DenoiserCache& cache, const std::string& file) {
    cache.get(file, NetworkInput::prior, "ddnm");
    cache.release(file, NetworkInput::prior);
  };
  DenoiserCache roomy(load, 8), narrow(load, 7);
  for (DenoiserCache* cache : {&roomy, &narrow})
    for (const auto& file : {a, b, a}) cache->expect(file, NetworkInput::prior);
  use(roomy, a);
  use(roomy, b);
  EXPECT_FALSE(all[0].expired());
  EXPECT_TRUE(all[1].expired());  // that was its only use
  use(roomy, a);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].expired());
  // Only one file has room: the other goes first.
  use(narrow, a);
  use(narrow, b);
  EXPECT_TRUE(all[2].expired());
  use(narrow, a);
  EXPECT_EQ(all.size(), 5u);
}

}  // namespace
}  // namespace eps::experiment
