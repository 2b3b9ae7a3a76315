// Sheets: cells in their places pixel by pixel, words beside them, and heat that rises.
#include "eps/report/sheet.h"

#include <gtest/gtest.h>

#include <set>

#include "eps/report/bitmap_font.h"
#include "tests/files.h"

namespace eps::report {
namespace {

// With words at scale 1, and twice that at scale 2.
constexpr int64_t kMargin = 8, kGap = 4;

// Never white, so that what is white is no cell.
Tensor cell(Shape shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (at::arange(count) * 37).remainder(255).to(at::kByte).view(shape);
}

// Whether the cell is at this place of the sheet, every pixel `magnified` times.
bool is_at(const Tensor& sheet, const Tensor& cell, int64_t top, int64_t left, int64_t magnified) {
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t i = 0; i < cell.size(1) * magnified; ++i)
      for (int64_t j = 0; j < cell.size(2) * magnified; ++j)
        if (sheet[c][top + i][left + j].item<int64_t>() !=
            cell[cell.size(0) == 1 ? 0 : c][i / magnified][j / magnified].item<int64_t>())
          return false;
  return true;
}

// The first and the last index along one axis of (H, W) or (3, H, W) that has ink.
std::pair<int64_t, int64_t> extent(const Tensor& picture, int64_t axis) {
  const Tensor ink = picture.dim() == 3 ? (picture < 255).any(0) : picture < 255;
  const Tensor where = ink.any(1 - axis).nonzero();
  return {where.min().item<int64_t>(), where.max().item<int64_t>()};
}

int64_t ink_of(const Tensor& picture) { return (picture < 255).sum().item<int64_t>(); }

TEST(Sheet, PutsEveryMagnifiedCellInItsPlaceAndNothingElse) {
  for (const int64_t magnified : {1, 3}) {
    const int64_t margin = kMargin * (magnified > 1 ? 2 : 1), gap = kGap * (magnified > 1 ? 2 : 1);
    const Tensor a = cell({3, 4, 6}), b = cell({1, 4, 2}), c = cell({3, 5, 6}), d = cell({3, 5, 2});
    const Tensor sheet = draw_sheet({{"", ""}, {{"", {a, b}}, {"", {c, d}}}}, magnified);
    EXPECT_EQ(sheet.sizes().vec(),
              (Shape{3, 2 * margin + gap + 9 * magnified, 2 * margin + gap + 8 * magnified}));
    const int64_t second_row = margin + 4 * magnified + gap;
    const int64_t second_column = margin + 6 * magnified + gap;
    EXPECT_TRUE(is_at(sheet, a, margin, margin, magnified));
    EXPECT_TRUE(is_at(sheet, b, margin, second_column, magnified));
    EXPECT_TRUE(is_at(sheet, c, second_row, margin, magnified));
    EXPECT_TRUE(is_at(sheet, d, second_row, second_column, magnified));
    EXPECT_EQ(ink_of(sheet), 3 * 9 * 8 * magnified * magnified);
  }
}

TEST(Sheet, CentresSmallerCellsAndLeavesAbsentOnesEmpty) {
  const Tensor large = cell({3, 8, 10}), small = cell({3, 4, 4});
  const Tensor sheet = draw_sheet({{"", ""}, {{"", {large, large}}, {"", {small, Tensor()}}}}, 1);
  EXPECT_EQ(sheet.sizes().vec(), (Shape{3, 2 * kMargin + 8 + kGap + 4, 2 * kMargin + 20 + kGap}));
  EXPECT_TRUE(is_at(sheet, small, kMargin + 8 + kGap, kMargin + 3, 1));
  EXPECT_EQ(ink_of(sheet.slice(1, kMargin + 8)), 3 * 16);
}

TEST(Sheet, WritesRowLabelsInAMarginAsWideAsTheWidest) {
  const Tensor picture = cell({3, 21, 16});
  const Tensor sheet = draw_sheet({{""}, {{"HHHH", {picture}}, {"H", {picture}}}}, 1);
  const int64_t left = kMargin + text_width("HHHH", 1) + 2 * kGap;
  ASSERT_EQ(sheet.size(2), left + 16 + kMargin);
  const Tensor words = sheet.slice(2, 0, left);
  const Tensor first = words.slice(1, 0, kMargin + 21), second = words.slice(1, kMargin + 21);
  EXPECT_EQ(ink_of(first), 3 * ink_of(draw_text("HHHH", 1)));
  EXPECT_EQ(ink_of(second), 3 * ink_of(draw_text("H", 1)));
  // Seven pixels of a capital in the middle of 21; both end at the same distance from the cells.
  EXPECT_EQ(extent(first, 0), std::pair(kMargin + 7, kMargin + 13));
  EXPECT_EQ(extent(first, 1), std::pair(kMargin, left - 2 * kGap - 1));
  EXPECT_EQ(extent(second, 1).second, left - 2 * kGap - 1);
}

TEST(Sheet, CentresColumnLabelsAboveTheirColumns) {
  const Tensor picture = cell({3, 20, 31});
  const Tensor sheet = draw_sheet({{"H", "HHH"}, {{"", {picture, picture}}}}, 1);
  const int64_t top = sheet.size(1) - kMargin - 20, second = kMargin + 31 + kGap;
  EXPECT_TRUE(is_at(sheet, picture, top, kMargin, 1));
  EXPECT_TRUE(is_at(sheet, picture, top, second, 1));
  const Tensor words = sheet.slice(1, 0, top);
  EXPECT_EQ(extent(words.slice(2, 0, second), 1), std::pair(kMargin + 13, kMargin + 17));
  EXPECT_EQ(extent(words.slice(2, second), 1), std::pair(int64_t{7}, int64_t{23}));
  EXPECT_LT(extent(words, 0).second, top - kGap);
}

TEST(Sheet, BreaksLongColumnLabelsAndWidensAColumnForAWordOnly) {
  const Tensor picture = cell({3, 20, 30});
  const auto sheet = [&](const std::string& label) {
    return draw_sheet({{label}, {{"", {picture}}}}, 1);
  };
  const Tensor one = sheet("mean"), two = sheet("mean mean");
  ASSERT_LT(text_width("mean", 1) + kGap, 30);
  EXPECT_EQ(two.size(2), one.size(2));
  EXPECT_EQ(two.size(1), one.size(1) + 11);
  EXPECT_EQ(sheet("mean of").size(1), two.size(1));
  EXPECT_EQ(sheet("a of").size(1), one.size(1));
  EXPECT_EQ(sheet("measurement").size(2), 2 * kMargin + text_width("measurement", 1) + kGap);
}

TEST(Sheet, RefusesWhatIsNoSheet) {
  const auto error = [](const Sheet& sheet, int64_t magnified = 1) {
    return error_of([&] { draw_sheet(sheet, magnified); });
  };
  const Tensor good = cell({3, 2, 2});
  EXPECT_EQ(error({{"a", "b"}, {{"r", {good}}}}),
            "sheet: the row \"r\" has 1 cells; there are 2 columns");
  EXPECT_EQ(error({{"a"}, {{"r", {good.to(at::kFloat)}}}}),
            "sheet: the row \"r\": a cell must be uint8 of 1 or 3 x H x W, got Float of 3 x 2 x 2");
  EXPECT_EQ(error({{"a"}, {{"r", {cell({2, 2, 2})}}}}),
            "sheet: the row \"r\": a cell must be uint8 of 1 or 3 x H x W, got Byte of 2 x 2 x 2");
  EXPECT_EQ(error({{"a"}, {{"r", {cell({2, 2})}}}}),
            "sheet: the row \"r\": a cell must be uint8 of 1 or 3 x H x W, got Byte of 2 x 2");
  EXPECT_EQ(error({{"a"}, {}}), "sheet: wanted at least one row and one column, got 0 and 1");
  EXPECT_EQ(error({{"a"}, {{"r", {good}}}}, 0),
            "sheet: cells must be magnified at least once, got 0");
}

TEST(BitmapFont, DrawsABoxForACharacterItDoesNotKnow) {
  const Tensor box = at::zeros({kTextHeight, 5}, at::kByte);
  box.slice(0, 1, 6).slice(1, 1, 4).fill_(255);
  box.slice(0, 7).fill_(255);
  EXPECT_TRUE(identical(draw_text("~", 1), box));
  EXPECT_TRUE(identical(draw_text("\u03c3", 1), box));  // two bytes, one character
}

TEST(BitmapFont, TellsAllItsCharactersApart) {
  std::string known = ".,:%()-+=/_";
  for (char c = '0'; c <= '9'; ++c) known += c;
  for (char c = 'a'; c <= 'z'; ++c) known += {c, static_cast<char>(c - 'a' + 'A')};
  std::set<std::string> shapes = {"box"};
  for (const char c : known) {
    const Tensor text = draw_text(std::string(1, c), 1);
    EXPECT_FALSE(text.equal(draw_text("~", 1))) << c;
    const Tensor bytes = text.contiguous();
    shapes.insert(to_string(text.sizes()) +
                  std::string(static_cast<const char*>(bytes.data_ptr()), bytes.numel()));
  }
  EXPECT_EQ(shapes.size(), known.size() + 1);
  EXPECT_EQ(ink_of(draw_text(" ", 1)), 0);
}

TEST(BitmapFont, EnlargesEveryPixelAlike) {
  const Tensor small = draw_text("Eps 1", 1), large = draw_text("Eps 1", 3);
  EXPECT_EQ(large.size(1), text_width("Eps 1", 3));
  EXPECT_TRUE(identical(large.slice(0, 1, {}, 3).slice(1, 2, {}, 3), small));
  EXPECT_EQ(ink_of(large), 9 * ink_of(small));
  EXPECT_EQ(text_width("", 2), 0);
}

TEST(HeatMap, RisesInLightnessFromBlackToWhite) {
  const Tensor ramp = heat_map(at::linspace(0, 2, 101).unsqueeze(0), 2).to(at::kDouble);
  ASSERT_EQ(ramp.sizes().vec(), (Shape{3, 1, 101}));
  const Tensor light = (ramp / 255).pow(2.2);  // about linear
  const Tensor luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  EXPECT_GT(luminance.diff().min().item<double>(), 0);
  EXPECT_EQ(ramp.slice(2, 0, 1).sum().item<double>(), 0);
  EXPECT_EQ(ramp.slice(2, 100).sum().item<double>(), 3 * 255);
}

TEST(HeatMap, ClipsAndIsBlackWithoutARange) {
  const Tensor values = at::tensor({-1.0, 0.0, 0.5, 1.0, 7.0}).unsqueeze(0);
  const Tensor map = heat_map(values, 1);
  EXPECT_TRUE(map.select(2, 0).equal(map.select(2, 1)));
  EXPECT_TRUE(map.select(2, 4).equal(map.select(2, 3)));
  // Half way from red to orange.
  EXPECT_TRUE(map.select(2, 2).view({3}).equal(at::tensor({211, 66, 33}, at::kByte)));
  for (const double top : {0.0, -1.0}) EXPECT_EQ(heat_map(values, top).sum().item<int64_t>(), 0);
  EXPECT_EQ(error_of([&] { heat_map(values[0], 1); }), "heat_map: wanted H x W values, got 5");
  EXPECT_EQ(error_of([&] { heat_map(values / 0 * 0, 1); }),
            "heat_map: some values are not numbers");
}

}  // namespace
}  // namespace eps::report
