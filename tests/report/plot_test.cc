// Plots of reports: where numbers are drawn, and how lines are told apart.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "eps/report/axis.h"
#include "eps/report/line_plot.h"
#include "eps/report/numbers.h"
#include "eps/report/rank_histogram.h"
#include "eps/report/styles.h"
#include "tests/report/markup_check.h"
#include "tests/report/report_rows.h"

namespace eps::report {
namespace {

// Coordinates are written with two digits after the point.
constexpr double kRounding = 0.01;

struct Place {
  double x, y;
};

std::vector<std::vector<double>> numbers(const std::string& svg, const std::string& pattern) {
  std::vector<std::vector<double>> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator i(svg.begin(), svg.end(), expression), end; i != end; ++i) {
    std::vector<double>& groups = found.emplace_back();
    for (size_t k = 1; k < i->size(); ++k) groups.push_back(std::stod((*i)[k]));
  }
  return found;
}

std::vector<Place> markers(const std::string& svg) {
  std::vector<Place> places;
  for (const auto& pair : numbers(svg, R"(translate\(([-0-9.]+) ([-0-9.]+)\))")) {
    places.push_back({pair[0], pair[1]});
  }
  return places;
}

LinePlot plot_of(const std::vector<Point>& points) {
  return {.title = "t",
          .x_label = "x",
          .y_label = "y",
          .series = {{.name = "A", .style = {}, .points = points}}};
}

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> result;
  for (const auto& tick : ticks) result.push_back(tick.label);
  return result;
}

TEST(ReportPlot, AxesPlaceNumbers) {
  const Axis linear{.low = -1, .high = 3, .start = 100, .end = 0};
  EXPECT_DOUBLE_EQ(linear.place(1), 50);
  EXPECT_DOUBLE_EQ(linear.place(-1), 100);
  const Axis log{.low = 1, .high = 100, .start = 20, .end = 220, .log = true};
  EXPECT_DOUBLE_EQ(log.place(10), 120);
  EXPECT_DOUBLE_EQ(log.place(100), 220);
}

TEST(ReportPlot, AxesKeepTheirValuesInside) {
  for (const bool log : {false, true}) {
    for (const auto& values : {std::vector{1.0, 1000.0}, {5.0}, {2e-7, 3e-7}}) {
      const Axis axis = axis_around(values, log);
      EXPECT_LT(axis.low, values.front());
      EXPECT_GT(axis.high, values.back());
    }
  }
  EXPECT_LT(axis_around({0}, false).low, 0);
  EXPECT_THROW(axis_around({0, 1}, true), Error);
  EXPECT_THROW(axis_around({}, false), Error);
}

TEST(ReportPlot, TicksAreRoundNumbers) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(ticks({.low = 0, .high = 1}, 5)),
            (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(ticks({.low = 18.3, .high = 24.1}, 6)),
            (Labels{"19", "20", "21", "22", "23", "24"}));
  EXPECT_EQ(labels(ticks({.low = -0.0069, .high = -0.0044}, 6)),
            (Labels{"-0.0065", "-0.0060", "-0.0055", "-0.0050", "-0.0045"}));
  EXPECT_EQ(labels(ticks({.low = 0.9, .high = 110, .log = true}, 8)),
            (Labels{"1", "2", "5", "10", "20", "50", "100"}));
  EXPECT_EQ(labels(ticks({.low = 900, .high = 3e7, .log = true}, 8)),
            (Labels{"1k", "10k", "100k", "1M", "10M"}));
  EXPECT_EQ(labels(ticks({.low = 85, .high = 125, .log = true}, 8)),
            (Labels{"90", "100", "110", "120"}));
}

TEST(ReportPlot, PointsAreWhereTheirNumbersSay) {
  LinePlot plot = plot_of({{1, 20, kNan}, {10, 24, kNan}, {100, 28, kNan}});
  plot.log_x = true;
  const std::string svg = line_plot(plot);
  EXPECT_EQ(markup_fault(svg), "");
  const auto at = markers(svg);
  ASSERT_EQ(at.size(), 3u);
  // The middle one lies in the middle of the axis, which has the same air on both sides.
  const auto axis = numbers(
      svg, R"re(class="tick" x1="([0-9.]+)" y1="([0-9.]+)" x2="([0-9.]+)" y2="([0-9.]+)")re");
  EXPECT_NEAR(at[1].x, (axis[0][0] + axis[0][2]) / 2, 2 * kRounding);
  EXPECT_NEAR(at[1].x, (at[0].x + at[2].x) / 2, 2 * kRounding);
  EXPECT_NEAR(at[1].y, (at[0].y + at[2].y) / 2, 2 * kRounding);
  EXPECT_LT(at[0].x, at[2].x);
  EXPECT_GT(at[0].y, at[2].y) << "greater numbers are higher up";
  // The tick of 24 is at the height of the point.
  const auto tick = numbers(svg, R"re(y="([0-9.]+)">(24)</text>)re");
  ASSERT_EQ(tick.size(), 1u);
  EXPECT_NEAR(tick[0][0] - 3.4, at[1].y, 2 * kRounding);
}

TEST(ReportPlot, ErrorBarsAreOneStandardErrorEachWay) {
  const std::string svg = line_plot(plot_of({{0, 10, 2}, {1, 20, kNan}, {2, 10, 0}}));
  const auto at = markers(svg);
  const auto bars = numbers(
      svg, R"re(class="error-bar" x1="[0-9.]+" y1="([0-9.]+)" x2="[0-9.]+" y2="([0-9.]+)")re");
  ASSERT_EQ(bars.size(), 1u);
  const double unit = (at[0].y - at[1].y) / 10;
  EXPECT_NEAR(bars[0][0], at[0].y + 2 * unit, 3 * kRounding);
  EXPECT_NEAR(bars[0][1], at[0].y - 2 * unit, 3 * kRounding);
}

TEST(ReportPlot, ALineStopsAtACategoryWithoutAValue) {
  LinePlot plot = plot_of({{0, 1, kNan}, {1, 2, kNan}, {3, 1, kNan}});
  plot.categories = {"first", "second", "a <third> with many words", "fourth"};
  const std::string svg = line_plot(plot);
  EXPECT_EQ(markup_fault(svg), "");
  std::smatch path;
  ASSERT_TRUE(std::regex_search(svg, path, std::regex(R"re(class="curve" d="([^"]*)")re")));
  EXPECT_TRUE(std::regex_match(path[1].str(), std::regex(R"(M[^ML]+L[^ML]+M[^ML]+)"))) << path[1];
  const auto at = markers(svg);
  EXPECT_NEAR(at[2].x - at[1].x, 2 * (at[1].x - at[0].x), 4 * kRounding);
}

TEST(ReportPlot, TheDiagonalIsDrawnWhereNumbersAreEqual) {
  LinePlot plot = plot_of({{0.5, 0.5, kNan}, {0.9, 0.9, kNan}, {0.95, 0.2, kNan}});
  plot.diagonal = true;
  const std::string svg = line_plot(plot);
  const auto line = numbers(
      svg, R"re(class="reference" x1="([0-9.]+)" y1="([0-9.]+)" x2="([0-9.]+)" y2="([0-9.]+)")re");
  ASSERT_EQ(line.size(), 1u);
  for (const auto& [x, y] : {markers(svg)[0], markers(svg)[1]}) {
    const double slope = (line[0][3] - line[0][1]) / (line[0][2] - line[0][0]);
    EXPECT_NEAR(y, line[0][1] + slope * (x - line[0][0]), 5 * kRounding);
  }
}

TEST(ReportPlot, ManyMethodsAreToldApart) {
  std::set<std::string> looks;
  const std::regex marker(R"re(class="(series [^"]*)".* d="([^"]*)" transform)re");
  for (int method = 0; method < 24; ++method) {
    const std::string svg = legend({{.name = "A", .style = {.method = method}, .points = {}}});
    std::smatch found;
    ASSERT_TRUE(std::regex_search(svg, found, marker)) << svg;
    looks.insert(found[1].str() + found[2].str());
  }
  EXPECT_EQ(looks.size(), 24u);
}

TEST(ReportPlot, AMethodHasOneColourAndStepsHaveDashes) {
  auto rows = rows_of("psnr", {1, 2, 3});
  rows[1].method = "A";
  rows[1].steps = rows[1].nfe = 20;
  const Styles styles(rows);
  EXPECT_EQ(styles.of_method(rows[0]).name, "A");
  EXPECT_EQ(styles.of_method(rows[1]).style.method, 0);
  EXPECT_EQ(styles.of_method(rows[2]).style.method, 1);
  EXPECT_EQ(styles.of_steps(rows[0]).name, "A (10)");
  EXPECT_EQ(styles.of_steps(rows[1]).name, "A (20)");
  EXPECT_EQ(styles.of_steps(rows[1]).style.method, 0);
  EXPECT_EQ(styles.of_steps(rows[1]).style.variant, 1);
  EXPECT_EQ(styles.of_steps(rows[2]).name, "C") << "one number of steps needs no number";
}

TEST(ReportPlot, WhereLinesAreTooManyTheLargestOfEachMethodAreDrawn) {
  std::vector<Row> rows;
  for (int steps = 1; steps <= 7; ++steps) {
    for (const char* method : {"A", "B"}) {
      rows.push_back(row(method));
      rows.back().steps = steps;
      rows.back().nfe = 8 - steps;
    }
  }
  const Drawn few = rows_to_draw(rows, [](const Row& each) { return each.steps <= 6; });
  EXPECT_EQ(few.rows.size(), 12u);
  EXPECT_EQ(few.note(), "");
  const Drawn chosen = rows_to_draw(rows, [](const Row&) { return true; });
  ASSERT_EQ(chosen.rows.size(), 2u);
  EXPECT_EQ(chosen.rows[0]->nfe, 7);
  EXPECT_NE(chosen.note(), "");
}

TEST(ReportPlot, RankBarsAreInUnitsOfUniform) {
  const std::string svg =
      rank_histogram({.fractions = {0.1, 0.2, 0.1, 0.6}, .highest = 2, .style = {}, .title = "t"});
  EXPECT_EQ(markup_fault(svg), "");
  const auto bars = numbers(svg, R"re(y="([0-9.]+)" width="[0-9.]+" height="([0-9.]+)")re");
  ASSERT_EQ(bars.size(), 4u);
  EXPECT_NEAR(bars[1][1], 2 * bars[0][1], 2 * kRounding);
  EXPECT_NEAR(bars[3][1], 5 * bars[0][1], 6 * kRounding) << "2.4 units, cut at 2: 5 times 0.4";
  EXPECT_NE(svg.find(">2.4×</text>"), std::string::npos);
  const double uniform = numbers(svg, R"re(class="reference" d="M0 ([0-9.]+))re")[0][0];
  EXPECT_NEAR(bars[0][0] + bars[0][1] - uniform, bars[0][1] / 0.4, 4 * kRounding);
}

TEST(ReportPlot, NumbersAreBrief) {
  EXPECT_EQ(brief_number(0.01234), "0.0123");
  EXPECT_EQ(brief_number(999.4), "999");
  EXPECT_EQ(brief_number(999.6), "1k");
  EXPECT_EQ(brief_number(12.8e6), "12.8M");
  EXPECT_EQ(plain_number(100), "100");
  EXPECT_EQ(plain_number(100.0 / 3), "33.3");
  EXPECT_EQ(duration_number(4.1), "4.10");
  EXPECT_EQ(duration_number(99.96), "100");
  EXPECT_EQ(duration_number(1234), "1234");
}

}  // namespace
}  // namespace eps::report
