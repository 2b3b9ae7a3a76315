// Rows through JSON and CSV, and reports as Markdown.
#include "eps/report/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eps/report/numbers.h"
#include "tests/report/report_rows.h"

namespace eps::report {
namespace {

std::string message(const std::string& json) {
  try {
    parse_rows(json, "rows.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Report, JsonReadsBackEveryField) {
  Row full =
      row("a \"quoted\"\nΠ name", {{"psnr", {24.341234567890123, 0.1}}, {"ssim", {-0.0, 1e-300}}});
  full.vjps = 1.5;
  full.solves = 2;
  full.images = 100;
  full.samples = 10;
  full.images_seen = (int64_t{1} << 62) + 1;
  full.absent = {{"fid", "needs Inception weights"}};
  full.ranks = {0.1, 1.0 / 3, 0.5};
  full.error = "failed";
  const auto back = parse_rows(to_json({full, row("B")}), "rows.json");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].task, full.task);
  EXPECT_EQ(back[0].method, full.method);
  EXPECT_EQ(back[0].spec, full.spec);
  EXPECT_EQ(back[0].model, full.model);
  EXPECT_EQ(back[0].steps, full.steps);
  EXPECT_EQ(back[0].nfe, full.nfe);
  EXPECT_EQ(back[0].vjps, full.vjps);
  EXPECT_EQ(back[0].solves, full.solves);
  EXPECT_EQ(back[0].images, full.images);
  EXPECT_EQ(back[0].samples, full.samples);
  EXPECT_EQ(back[0].images_seen, full.images_seen);
  EXPECT_EQ(back[0].seconds, full.seconds);
  EXPECT_EQ(back[0].metrics.size(), 2u);
  EXPECT_EQ(back[0].metrics.at("psnr").value, 24.341234567890123);
  EXPECT_EQ(back[0].metrics.at("psnr").se, 0.1);
  EXPECT_EQ(back[0].metrics.at("ssim").se, 1e-300);
  EXPECT_EQ(back[0].absent, full.absent);
  EXPECT_EQ(back[0].ranks, full.ranks);
  EXPECT_EQ(back[0].error, full.error);
  EXPECT_EQ(back[1].method, "B");
  EXPECT_TRUE(back[1].metrics.empty() && back[1].ranks.empty() && back[1].error.empty());
  EXPECT_TRUE(parse_rows(to_json({}), "rows.json").empty());
}

TEST(Report, JsonHasNullForNumbersThatAreNone) {
  Row odd = row("A", {{"psnr", {kInfinity, kNan}}, {"ssim", {-kInfinity, 0.25}}});
  odd.seconds = kNan;
  const std::string json = to_json({odd});
  EXPECT_NE(json.find("\"psnr\":{\"value\":null,\"se\":null}"), std::string::npos) << json;
  const Row back = parse_rows(json, "rows.json").front();
  EXPECT_TRUE(std::isnan(back.metrics.at("psnr").value));
  EXPECT_TRUE(std::isnan(back.metrics.at("psnr").se));
  EXPECT_TRUE(std::isnan(back.metrics.at("ssim").value));
  EXPECT_EQ(back.metrics.at("ssim").se, 0.25);
  EXPECT_TRUE(std::isnan(back.seconds));
}

TEST(Report, TextThatIsNotUtf8DoesNotLoseTheRows) {
  EXPECT_EQ(parse_rows(to_json({row("a\xff"
                                    "b")}),
                       "r")
                .front()
                .method,
            "a\ufffdb");
}

TEST(Report, WrongJsonIsAnErrorThatNamesTheField) {
  const std::string good = to_json({row("A"), row("B", {{"psnr", {1, 2}}})});
  const auto change = [&](const std::string& from, const std::string& to) {
    const size_t at = good.rfind(from);  // in the second row
    EXPECT_NE(at, std::string::npos) << from;
    return message(std::string(good).replace(at, from.size(), to));
  };
  EXPECT_EQ(message(good), "no error");
  EXPECT_EQ(message("{}"), "rows.json: must be a list of rows, got object");
  EXPECT_EQ(message("[{").find("rows.json: no JSON: line 1, column 3: "), 0u);
  EXPECT_EQ(message("[3]"), "rows.json: row 1 must be a JSON object, got 3");
  EXPECT_EQ(change("\"nfe\":10.0,", ""), "rows.json: row 2: nfe is missing");
  EXPECT_EQ(change("\"nfe\"", "\"hue\":1,\"nfe\""),
            "rows.json: row 2: unknown field \"hue\" (did you mean \"nfe\"?)");
  EXPECT_EQ(change("\"nfe\":10.0", "\"nfe\":\"10\""),
            "rows.json: row 2: nfe must be a number or null, got \"10\"");
  EXPECT_EQ(change("\"steps\":10", "\"steps\":1.5"),
            "rows.json: row 2: steps must be a whole number, got 1.5");
  EXPECT_EQ(change("\"steps\":10", "\"steps\":9223372036854775808"),
            "rows.json: row 2: steps must be a whole number, got 9223372036854775808");
  EXPECT_EQ(change("\"method\":\"B\"", "\"method\":null"),
            "rows.json: row 2: method must be text, got null");
  EXPECT_EQ(change("\"ranks\":[]", "\"ranks\":{}"),
            "rows.json: row 2: ranks must be a list, got {}");
  EXPECT_EQ(change("\"absent\":{}", "\"absent\":{\"fid\":1}"),
            "rows.json: row 2: absent: fid must be text, got 1");
  EXPECT_EQ(change(",\"se\":2.0", ""), "rows.json: row 2: metrics: psnr: se is missing");
  EXPECT_EQ(change("\"se\":2.0", "\"se\":2.0,\"n\":1"),
            "rows.json: row 2: metrics: psnr: unknown field \"n\"");
}

// Cells of RFC 4180: line breaks and commas inside quotes belong to the cell.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string& cell = lines.back().back();
    if (text[i] == '"' && quoted && text[i + 1] == '"') {
      cell += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (text[i] == '\n' && !quoted) {
      lines.push_back({""});
    } else {
      cell += text[i];
    }
  }
  lines.pop_back();
  return lines;
}

TEST(Report, CsvQuotesWhatWouldBreakIt) {
  Row odd = row("a, \"b\"\nc", {{"psnr", {1.0 / 3, kNan}}});
  odd.error = "no \"way\"";
  const std::string csv = to_csv({odd, row("B", {{"ssim", {0.5, 0.125}}})});
  EXPECT_NE(csv.find(",\"a, \"\"b\"\"\nc\","), std::string::npos) << csv;
  const auto lines = read_csv(csv);
  ASSERT_EQ(lines.size(), 3u);
  std::map<std::string, std::vector<std::string>> columns;
  for (size_t i = 0; i < lines[0].size(); ++i) {
    ASSERT_EQ(lines[1].size(), lines[0].size());
    ASSERT_EQ(lines[2].size(), lines[0].size());
    columns[lines[0][i]] = {lines[1][i], lines[2][i]};
  }
  using Pair = std::vector<std::string>;
  EXPECT_EQ(columns["method"], (Pair{odd.method, "B"}));
  EXPECT_EQ(std::stod(columns["psnr"][0]), 1.0 / 3);
  EXPECT_EQ(columns["psnr"][1], "");
  EXPECT_EQ(columns["psnr_se"], (Pair{"", ""}));
  EXPECT_EQ(columns["ssim"], (Pair{"", "0.5"}));
  EXPECT_EQ(columns["ssim_se"], (Pair{"", "0.125"}));
  EXPECT_EQ(columns["error"], (Pair{odd.error, ""}));
  EXPECT_EQ(columns["steps"], (Pair{"10", "10"}));
}

TEST(Report, MarkdownMarksBestAndSecond) {
  auto rows = rows_of("psnr", {20, 24, 22, kNan});
  rows[0].method = "a|b *c* <d>";
  rows[3].error = "diverged | at\nstep 3";
  Report report = report_of({"psnr", "fid"}, rows);
  report.parameters = {{"sigma_y", "0.05"}};
  const std::string text = to_markdown(report);
  const int digits = find_metric("psnr").digits;
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("# T\n")) << text;
  EXPECT_TRUE(has("- sigma\\_y: 0.05\n")) << text;
  EXPECT_TRUE(has("## Box inpainting\n")) << text;
  EXPECT_TRUE(has("| " + find_metric("psnr").label + " ↑ |")) << text;
  EXPECT_TRUE(
      has("| a\\|b \\*c\\* \\<d\\> | 10 | " + fixed_number(20, digits) + " | – | 0.500 |\n"))
      << text;
  EXPECT_TRUE(has("| B | 10 | **" + fixed_number(24, digits) + "** | – |")) << text;
  EXPECT_TRUE(has("| C | 10 | <u>" + fixed_number(22, digits) + "</u> | – |")) << text;
  EXPECT_TRUE(has("- D (10): diverged \\| at step 3\n")) << text;
  EXPECT_FALSE(has("±")) << "no standard errors: " << text;
}

}  // namespace
}  // namespace eps::report
