// Tables of reports: what they show, rank, average and note.
#include "eps/report/table.h"

#include <gtest/gtest.h>

#include "eps/report/numbers.h"
#include "tests/report/report_rows.h"

namespace eps::report {
namespace {

// The ranks that the values of a metric are given, 0 for none.
std::vector<int> ranks(const std::string& metric, const std::vector<double>& values) {
  std::vector<int> result;
  const std::vector<Table> tables = make_tables(report_of({metric}, rows_of(metric, values)));
  for (const auto& line : tables.front().lines) result.push_back(line.cells.front().rank);
  return result;
}

TEST(ReportTable, RanksAreThoseOfTheDigitsShown) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(ranks("psnr", {20, 24, 22}), (Ranks{0, 1, 2}));
  EXPECT_EQ(ranks("lpips", {0.2, 0.4, 0.3}), (Ranks{1, 0, 2}));
  // Equal as they are shown: they share the rank, and after two that are best there is no second.
  EXPECT_EQ(ranks("psnr", {24, 24 + 1e-6, 22}), (Ranks{1, 1, 0}));
  EXPECT_EQ(ranks("psnr", {24, 22, 22 + 1e-6, 20}), (Ranks{1, 2, 2, 0}));
  // Where all are equal, and where there is one, nothing is better than anything.
  EXPECT_EQ(ranks("psnr", {24, 24}), (Ranks{0, 0}));
  EXPECT_EQ(ranks("psnr", {24}), (Ranks{0}));
}

TEST(ReportTable, TargetsRankByDistance) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(ranks("coverage_90", {0.99, 0.5, 0.88}), (Ranks{2, 0, 1}));
  // Equally far below and above.
  EXPECT_EQ(ranks("coverage_90", {0.85, 0.95, 0.7}), (Ranks{1, 1, 0}));
}

TEST(ReportTable, WhatIsNotThereNeverWins) {
  using Ranks = std::vector<int>;
  EXPECT_EQ(ranks("psnr", {kNan, 20, 21}), (Ranks{0, 2, 1}));
  EXPECT_EQ(ranks("lpips", {kNan, 0.2, 0.1}), (Ranks{0, 2, 1}));
  EXPECT_EQ(ranks("psnr", {20, kInfinity, 21}), (Ranks{0, 1, 2}));
  auto rows = rows_of("psnr", {20, 21, 99});
  rows[2].error = "diverged";
  const auto table = make_tables(report_of({"psnr", "ssim"}, rows)).front();
  EXPECT_EQ(table.lines[1].cells[0].rank, 1);
  EXPECT_EQ(table.lines[1].cells[1].value, "");
  EXPECT_TRUE(table.lines[2].cells.empty());
}

TEST(ReportTable, SmallValuesAreShownInPowersOfTen) {
  const auto shown = [](const std::vector<double>& values) {
    return make_tables(report_of({"ssim"}, rows_of("ssim", values))).front().lines[0].cells[0];
  };
  EXPECT_EQ(shown({-6.524e-3, 1e-3}).value, "-6.52e-03");
  EXPECT_EQ(shown({-6.524e-3, 1e-3}).se, "1e-01");
  EXPECT_EQ(shown({-6.524e-3, 1e-1}).value, fixed_number(-6.524e-3, find_metric("ssim").digits));
  EXPECT_EQ(fixed_number(-0.001, 2), "0.00");
  EXPECT_EQ(fixed_number(-24.345678, 3), "-24.346");
}

TEST(ReportTable, ReasonsForWhatIsAbsentAreListedOnce) {
  auto rows = rows_of("psnr", {20, 21, 22});
  for (auto& each : rows) each.absent = {{"fid", "needs FILE"}, {"ssim", "needs FILE"}};
  rows[1].absent["lpips"] = "not finite";
  const auto notes = make_tables(report_of({"psnr", "ssim", "fid", "lpips"}, rows)).front().notes;
  const auto label = [](const char* name) { return find_metric(name).label; };
  const std::vector<std::string> wanted = {label("ssim") + ", " + label("fid") + ": needs FILE",
                                           label("lpips") + " of B (10): not finite"};
  EXPECT_EQ(notes, wanted);
}

TEST(ReportTable, ThePairedMmdIsToldWithItsFloor) {
  auto rows = rows_of("mmd_paired", {-6e-3, -5e-3});
  rows[0].metrics["mmd_paired_floor"] = {-6.8e-3, kNan};
  rows[1].metrics["mmd_paired_floor"] = {-6.5e-3, kNan};
  const auto notes = make_tables(report_of({"mmd_paired"}, rows)).front().notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("−6.80e−03 to −6.50e−03"), std::string::npos) << notes[0];
}

TEST(ReportTable, LinesThatWouldLookAlikeAreToldApart) {
  auto rows = rows_of("psnr", {20, 21});
  rows[1].images_seen = 1000;
  EXPECT_FALSE(make_tables(report_of({"psnr"}, rows)).front().shows_images_seen);
  rows[1].method = rows[0].method;
  EXPECT_TRUE(make_tables(report_of({"psnr"}, rows)).front().shows_images_seen);
  EXPECT_FALSE(make_tables(report_of({"psnr"}, rows)).front().shows_model);
}

// Methods A and B on two tasks, C on one, and D that failed on one.
Report two_tasks() {
  Report report = report_of({"psnr", "ssim", "coverage_90"}, {});
  report.tasks = {"box_inpainting", "motion_deblurring"};
  for (const auto& [task, offset] :
       {std::pair{"box_inpainting", 0.0}, std::pair{"motion_deblurring", 8.0}}) {
    for (const auto& [method, psnr] :
         {std::pair{"A", 20.0}, {"B", 21.0}, {"C", 30.0}, {"D", 40.0}}) {
      if (offset > 0 && method[0] == 'C') continue;
      Row each = row(method, {{"psnr", {psnr + offset, 0.1}}, {"coverage_90", {0.9, 0.1}}});
      each.task = task;
      each.nfe = offset > 0 ? 30 : 10;
      each.images_seen = static_cast<int64_t>(offset);  // networks differ between tasks
      if (offset > 0 && method[0] == 'D') each.error = "diverged";
      report.rows.push_back(each);
    }
  }
  report.rows[0].metrics["ssim"] = {0.5, 0.1};
  return report;
}

TEST(ReportTable, TheAverageIsOfMethodsThatHaveAllTasks) {
  const auto tables = make_tables(two_tasks());
  ASSERT_EQ(tables.size(), 3u);
  const Table& average = tables.back();
  ASSERT_EQ(average.lines.size(), 2u);
  EXPECT_EQ(average.lines[0].row.method, "A");
  EXPECT_DOUBLE_EQ(value_of(average.lines[0].row, "psnr"), 24);
  EXPECT_DOUBLE_EQ(value_of(average.lines[1].row, "psnr"), 25);
  EXPECT_DOUBLE_EQ(average.lines[0].row.nfe, 20);
  EXPECT_EQ(average.lines[0].cells[0].value, fixed_number(24, find_metric("psnr").digits));
  EXPECT_EQ(average.lines[0].cells[0].se, "");
  EXPECT_EQ(average.lines[0].cells[0].rank, 2);
  EXPECT_EQ(average.lines[1].cells[0].rank, 1);
  EXPECT_EQ(average.lines[0].cells[1].value, "") << "SSIM is on one task only";
  EXPECT_EQ(average.lines[0].cells[2].rank, 0) << "targets are not ranked";
  EXPECT_EQ(average.notes.back(), "Without every task, so not here: C (10), D (10)");
}

TEST(ReportTable, TheAverageKeepsNumbersOfImagesSeenApart) {
  Report report = two_tasks();
  report.rows.clear();
  for (const auto& task : report.tasks) {
    for (const int64_t seen : {1000, 2000}) {
      Row each = row("A", {{"psnr", {static_cast<double>(seen), 0.1}}});
      each.task = task;
      each.images_seen = seen;
      report.rows.push_back(each);
    }
  }
  const auto tables = make_tables(report);
  ASSERT_EQ(tables.size(), 3u);
  const Table& average = tables.back();
  ASSERT_EQ(average.lines.size(), 2u);
  EXPECT_EQ(value_of(average.lines[0].row, "psnr"), 1000);
  EXPECT_EQ(value_of(average.lines[1].row, "psnr"), 2000);
  EXPECT_TRUE(average.shows_images_seen);
}

TEST(ReportTable, TasksWithoutAPlaceInTheOrderComeLast) {
  Report report = report_of({"psnr"}, rows_of("psnr", {20, 21}));
  report.rows[0].task = "a | b";
  const auto tables = make_tables(report);
  ASSERT_EQ(tables.size(), 2u) << "no method has both tasks: no average";
  EXPECT_EQ(tables[0].title, "Box inpainting");
  EXPECT_EQ(tables[1].title, "a | b");
}

}  // namespace
}  // namespace eps::report
