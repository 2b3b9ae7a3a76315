// The page of a report: well-formed, complete in itself, and safe from what it is given.
#include <gtest/gtest.h>

#include <regex>

#include "eps/io/images/image.h"
#include "eps/report/markup.h"
#include "eps/report/numbers.h"
#include "eps/report/table.h"
#include "tests/report/markup_check.h"
#include "tests/report/report_rows.h"

namespace eps::report {
namespace {

const std::string kHostile = "<script>alert('x')</script> & \"q\" </td></table>";

Tensor picture(int64_t row, int64_t column, int64_t channels) {
  return at::arange(channels * 4 * 6, at::kByte)
      .add(40 * row + 9 * column)
      .reshape({channels, 4, 6});
}

PictureGrid sheet_of(int64_t channels) {
  std::vector<Tensor> pictures;
  for (int64_t row = 0; row < 2; ++row) {
    for (int64_t column = 0; column < 3; ++column)
      pictures.push_back(picture(row, column, channels));
  }
  PictureGrid sheet{.title = kHostile,
                    .columns = {"truth", kHostile, "EPS (20)"},
                    .images = at::stack(pictures).reshape({2, 3, channels, 4, 6}),
                    .psnr = at::full({2, 3}, kNan, at::kDouble)};
  sheet.psnr[1][2] = 24.26;
  return sheet;
}

// Everything that a page can have, with hostile names wherever names are.
Report full_report() {
  Report report = report_of({"psnr", "ssim", "coverage_90"}, {});
  report.title = report.about = kHostile;
  report.parameters = {{kHostile, kHostile}};
  report.tasks = {"box_inpainting", kHostile};
  report.plots = {{"nfe", "psnr"}, {"seconds", "psnr"}, {"images_seen", "psnr"}, {"task", "psnr"}};
  for (const auto& task : report.tasks) {
    for (const int64_t steps : {100, 10, 1}) {
      Row each = row(kHostile, {{"psnr", {20.0 + static_cast<double>(steps), 0.5}}});
      each.task = task;
      each.spec = each.model = kHostile;
      each.steps = steps;
      each.nfe = static_cast<double>(steps);
      each.images_seen = 1000 * steps;
      for (const int level : {50, 80, 90, 95}) {
        each.metrics["coverage_" + std::to_string(level)] = {level / 100.0, 0.01};
      }
      each.metrics["spread_skill"] = {0.97, 0.01};
      each.ranks = {0.2, 0.3, 0.5};
      each.absent = {{"ssim", kHostile}};
      report.rows.push_back(each);
    }
    report.rows.push_back(row("failed"));
    report.rows.back().task = task;
    report.rows.back().error = kHostile;
  }
  report.sheets = {sheet_of(3), sheet_of(1)};
  return report;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
  return found;
}

std::string from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255);
  }
  return bytes;
}

TEST(ReportHtml, TheCheckOfMarkupSeesFaults) {
  EXPECT_EQ(markup_fault("<a b=\"1\"><c/>x &amp; y</a>"), "");
  for (const char* faulty : {"<a>",
                             "</a>",
                             "<a></b>",
                             "<a><b></a></b>",
                             "<a b=1></a>",
                             "<a b=\"<\"></a>",
                             "a & b",
                             "a > b",
                             "a < b",
                             "<a"}) {
    EXPECT_NE(markup_fault(faulty), "") << faulty;
  }
}

TEST(ReportHtml, ThePageIsWellFormed) {
  EXPECT_EQ(markup_fault(to_html(full_report())), "");
  EXPECT_EQ(markup_fault(to_html({})), "");
  EXPECT_EQ(markup_fault(to_html(report_of({"psnr"}, rows_of("psnr", {20, kNan})))), "");
}

TEST(ReportHtml, WhatComesFromOutsideIsEscaped) {
  const std::string page = to_html(full_report());
  EXPECT_EQ(count(page, "<script"), 0u);
  EXPECT_EQ(count(page, "alert('"), 0u);
  EXPECT_EQ(count(page, "<h1>" + escape_markup(kHostile) + "</h1>"), 1u);
  EXPECT_EQ(escape_markup("<&>\"'\x01\n"), "&lt;&amp;&gt;&quot;&#39; \n");
}

TEST(ReportHtml, ThePageNeedsNothingOutsideIt) {
  const std::string page = to_html(full_report());
  for (const char* outside : {"http", "<link", "@import", "url(", "<iframe", "href"}) {
    EXPECT_EQ(count(page, outside), 0u) << outside;
  }
  EXPECT_EQ(count(page, "src="), count(page, "src=\"data:image/png;base64,"));
}

TEST(ReportHtml, Base64IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\x00\xfb", 3)), "/wD7");
}

TEST(ReportHtml, PicturesAreThePngsOfTheSheet) {
  for (const int64_t channels : {1, 3}) {
    Report report;
    report.sheets = {sheet_of(channels)};
    const std::string page = to_html(report);
    const std::string start = "src=\"data:image/png;base64,";
    size_t at = 0;
    for (int64_t i = 0; i < 6; ++i) {
      at = page.find(start, at);
      ASSERT_NE(at, std::string::npos);
      at += start.size();
      const std::string png = from_base64(page.substr(at, page.find('"', at) - at));
      const Tensor wanted = picture(i / 3, i % 3, channels);
      EXPECT_TRUE(at::equal(parse_image(png, "cell"), wanted)) << "cell " << i;
      EXPECT_EQ(png, encode_png(wanted, "cell"));
    }
    EXPECT_EQ(count(page, start), 6u);
    EXPECT_EQ(count(page, "class=\"psnr\">"), 1u) << "NaN is not shown";
    EXPECT_EQ(count(page, "class=\"psnr\">24.3<"), 1u);
    EXPECT_EQ(count(page, "alt=\"EPS (20), row 2\""), 1u);
  }
}

TEST(ReportHtml, SheetsThatDoNotFitAreErrors) {
  Report report;
  report.sheets = {sheet_of(3)};
  report.sheets[0].columns.pop_back();
  EXPECT_THROW(to_html(report), Error);
  report.sheets = {sheet_of(3)};
  report.sheets[0].psnr = at::zeros({3, 2});
  EXPECT_THROW(to_html(report), Error);
}

TEST(ReportHtml, TablesMarkBestAndSecondWithStandardErrors) {
  auto rows = rows_of("psnr", {20, 24, -22});
  rows[0].metrics["psnr"].se = kNan;
  rows[2].absent["fid"] = "needs FILE";
  const std::string page = to_html(report_of({"psnr", "fid"}, rows));
  const int digits = find_metric("psnr").digits;
  const std::string se = " <small>±" + fixed_number(0.1, digits) + "</small>";
  EXPECT_EQ(count(page, "<td><b>" + fixed_number(24, digits) + "</b>" + se + "</td>"), 1u);
  EXPECT_EQ(count(page, "<td><u>" + fixed_number(20, digits) + "</u></td>"), 1u);
  EXPECT_EQ(count(page, "<td>−" + fixed_number(22, digits) + se + "</td>"), 1u);
  EXPECT_EQ(count(page, "<td class=\"absent\">–</td>"), 3u);
  EXPECT_EQ(count(page, find_metric("fid").label + " of C (10): needs FILE"), 1u);
}

TEST(ReportHtml, AFailureIsToldAcrossItsRow) {
  auto rows = rows_of("psnr", {20, 24});
  rows[1].error = "diverged";
  const std::string page = to_html(report_of({"psnr", "ssim"}, rows));
  EXPECT_EQ(count(page, "<td class=\"failure\" colspan=\"3\"><span>diverged</span></td>"), 1u);
}

TEST(ReportHtml, PlotsHaveAPanelForEachTaskAndLinesInOrder) {
  Report report = full_report();
  report.plots = {{"nfe", "psnr"}};
  for (auto& each : report.rows) each.ranks.clear();
  for (auto& each : report.rows) {
    std::erase_if(each.metrics, [](const auto& entry) { return entry.first != "psnr"; });
  }
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<figure class=\"panel\">"), 2u);
  EXPECT_EQ(count(page, "<h2>Calibration</h2>"), 0u);
  // The rows are in falling order; the line goes from left to right.
  std::smatch path;
  ASSERT_TRUE(std::regex_search(
      page, path, std::regex(R"re(d="M([0-9.]+) [0-9.]+L([0-9.]+) [0-9.]+L([0-9.]+))re")));
  EXPECT_LT(std::stod(path[1]), std::stod(path[2]));
  EXPECT_LT(std::stod(path[2]), std::stod(path[3]));
  report.plots = {{"task", "psnr"}};
  EXPECT_EQ(count(to_html(report), "<figure class=\"panel\">"), 1u);
  report.plots = {{"hue", "psnr"}};
  EXPECT_THROW(to_html(report), Error);
  report.plots = {{"nfe", "ssim"}};
  EXPECT_EQ(count(to_html(report), "<h2>Plots</h2>"), 0u) << "no row has it";
}

TEST(ReportHtml, CalibrationIsThereWhereRowsHaveIt) {
  Report report = full_report();
  report.plots.clear();
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<h2>Calibration</h2>"), 1u);
  EXPECT_EQ(count(page, "<figure class=\"panel\">"), 2u) << "coverage, by task";
  EXPECT_EQ(count(page, "class=\"ranks "), 6u) << "three rows on two tasks";
  const Metric ratio = find_metric("spread_skill");
  EXPECT_EQ(
      count(page, "<small>" + escape_markup(ratio.label) + " " + fixed_number(0.97, ratio.digits)),
      6u);
}

}  // namespace
}  // namespace eps::report
