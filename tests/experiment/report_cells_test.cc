// Cells that other commands finished in the report of an experiment.
#include "eps/experiment/report_cells.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/files.h"

namespace eps::experiment {
namespace {

namespace fs = std::filesystem;

Experiment experiment() {
  Experiment e;
  e.tasks = {"box_inpainting", "random_inpainting"};
  e.methods = {{.label = "DDNM", .method = "ddnm", .tasks = {"random_inpainting"}},
               {.label = "EPS", .method = "eps", .steps = {100, 20}},
               {.label = "Mean", .method = "eps", .steps = {20}, .score = "mean"}};
  return e;
}

ReportCell cell(const std::string& folder, const report::Row& row, bool of_mean = false) {
  return {folder, of_mean, row, {}};
}

class ReportCells : public testing::Test {
 protected:
  // Scored so many minutes after the first.
  void finish(const ReportCell& cell, int minutes = 0, const std::string& networks = "ours") const {
    fs::create_directories(cells_ + "/" + cell.folder);
    const CellFolder folder(cells_ + "/" + cell.folder, cell.of_mean);
    folder.write_row(cell.row, networks);
    fs::last_write_time(folder.file(cell.of_mean ? "row_of_mean.json" : "row.json"),
                        fs::file_time_type() + std::chrono::minutes(minutes));
  }
  std::vector<std::string> folders_of(const std::vector<ReportCell>& own) const {
    std::vector<std::string> folders;
    for (const auto& cell : merge_finished(own, experiment(), cells_, "ours"))
      folders.push_back(cell.folder);
    return folders;
  }

  const Folder folder_;
  const std::string cells_ = folder_.file("cells");
  const report::Row eps100_{
      .task = "box_inpainting", .method = "EPS", .spec = "eps", .model = "eps", .steps = 100};
  const report::Row eps20_{
      .task = "box_inpainting", .method = "EPS", .spec = "eps", .model = "eps", .steps = 20};
  const report::Row ddnm_{
      .task = "random_inpainting", .method = "DDNM", .spec = "ddnm", .model = "prior"};
};

TEST_F(ReportCells, AreInTheOrderOfTheExperiment) {
  EXPECT_EQ(folders_of({cell("ddnm", ddnm_)}), std::vector<std::string>{"ddnm"});  // no folder yet
  report::Row mean = eps20_;
  mean.method = "Mean";
  finish(cell("eps-20", mean, /*of_mean=*/true));  // in the folder of the samples
  finish(cell("eps-20", eps20_));
  finish(cell("eps-100", eps100_));
  EXPECT_EQ(folders_of({cell("ddnm", ddnm_)}),
            (std::vector<std::string>{"eps-100", "eps-20", "eps-20", "ddnm"}));
}

TEST_F(ReportCells, OwnOnesTakeThePlaceOfOthersAndTheLastOfTheOneBefore) {
  report::Row trained = eps20_;
  trained.images_seen = 7;
  finish(cell("new", eps20_), 2);
  finish(cell("old", eps20_), 1);
  finish(cell("trained", trained), 0);
  EXPECT_EQ(folders_of({}), (std::vector<std::string>{"new", "trained"}));
  EXPECT_EQ(folders_of({cell("own", eps20_)}), std::vector<std::string>{"own"});
}

TEST_F(ReportCells, WhatFailedOrBelongsToNoMethodIsNotAmongThem) {
  report::Row failed = eps100_, other_method = eps100_, other_steps = eps100_, other_task = ddnm_;
  failed.error = "out of memory";
  other_method.spec = "eps:rho=7";
  other_steps.steps = 50;
  other_task.task = "box_inpainting";  // which DDNM is not for
  finish(cell("a", failed));
  finish(cell("b", other_method));
  finish(cell("c", other_steps));
  finish(cell("d", other_task));
  put_bytes(cells_ + "/a file", "");
  EXPECT_TRUE(folders_of({}).empty());
}

TEST_F(ReportCells, ScoresByOtherNetworksAreLeftOut) {
  report::Row row = eps20_;
  row.metrics = {{"psnr", {20, 1}}, {"fid_768", {0.3, 0.1}}, {"crps_1280_fair", {0.2, 0.1}}};
  finish(cell("a", row), 0, "others");
  const auto cells = merge_finished({}, experiment(), cells_, "ours");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_TRUE(cells[0].row.metrics.contains("psnr"));
  EXPECT_FALSE(cells[0].row.metrics.contains("fid_768"));
  EXPECT_FALSE(cells[0].row.metrics.contains("crps_1280_fair"));
  EXPECT_TRUE(cells[0].row.absent.contains("lpips"));
}

}  // namespace
}  // namespace eps::experiment
