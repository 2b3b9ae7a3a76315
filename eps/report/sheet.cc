// The layout of sheets, and the colours of heat maps.
#include "eps/report/sheet.h"

#include <algorithm>

#include "eps/report/bitmap_font.h"

namespace eps::report {
namespace {

// Black, purple, red, orange, yellow, white: the lightness L* rises by 20 from each to the next.
constexpr double kHeat[6][3] = {
    {0, 0, 0}, {78, 14, 112}, {186, 28, 46}, {236, 104, 20}, {250, 190, 56}, {255, 255, 255}};

void check_sheet(const Sheet& sheet, int64_t magnified) {
  check(magnified >= 1, "sheet: cells must be magnified at least once, got ", magnified);
  check(!sheet.columns.empty() && !sheet.rows.empty(),
        "sheet: wanted at least one row and one column, got ",
        sheet.rows.size(),
        " and ",
        sheet.columns.size());
  for (const SheetRow& row : sheet.rows) {
    check(row.cells.size() == sheet.columns.size(),
          "sheet: the row \"",
          row.label,
          "\" has ",
          row.cells.size(),
          " cells; there are ",
          sheet.columns.size(),
          " columns");
    for (const Tensor& cell : row.cells)
      check(!cell.defined() || (cell.scalar_type() == at::kByte && cell.dim() == 3 &&
                                (cell.size(0) == 1 || cell.size(0) == 3)),
            "sheet: the row \"",
            row.label,
            "\": a cell must be uint8 of 1 or 3 x H x W, got ",
            cell.defined() ? at::toString(cell.scalar_type()) : "",
            " of ",
            to_string(cell.sizes()));
  }
}

// Returns the words of a text in lines of at most this width, where the words allow.
std::vector<std::string> break_lines(const std::string& text, int64_t width, int64_t scale) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.empty() && text_width(lines.back() + " " + word, scale) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

int64_t widest(const std::vector<std::string>& lines, int64_t scale) {
  int64_t width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, scale));
  return width;
}

// A `Stretch` is a part of the sheet's width or height.
struct Stretch {
  int64_t begin = 0, length = 0;

  // Returns where a thing of this length begins if it lies in the middle.
  int64_t centred(int64_t other) const { return begin + (length - other) / 2; }
};

// A `Layout` holds the places of columns and rows; from the outside to the inside: a margin, words,
// a gap, cells with gaps between them.
struct Layout {
  int64_t scale;  // of the words
  int64_t gap, margin, line;
  std::vector<std::vector<std::string>> heads;  // by column, in lines
  std::vector<Stretch> columns, rows;
  int64_t height = 0, width = 0;

  Layout(const Sheet& sheet, int64_t magnified)
      : scale(magnified >= 2 ? 2 : 1), gap(4 * scale), margin(8 * scale), line(11 * scale) {
    int64_t words = 0;
    for (const SheetRow& row : sheet.rows) words = std::max(words, text_width(row.label, scale));
    width = margin + (words > 0 ? words + 2 * gap : 0);
    for (size_t j = 0; j < sheet.columns.size(); ++j) {
      int64_t length = 0;
      for (const SheetRow& row : sheet.rows)
        if (row.cells[j].defined()) length = std::max(length, magnified * row.cells[j].size(2));
      heads.push_back(break_lines(sheet.columns[j], length, scale));
      if (const int64_t word = widest(heads.back(), scale); word > length) length = word + gap;
      columns.push_back({width, length});
      width += length + gap;
    }
    width += margin - gap;

    size_t lines = 0;
    for (const auto& head : heads) lines = std::max(lines, head.size());
    height = margin + static_cast<int64_t>(lines) * line + (lines > 0 ? gap / 2 : 0);
    for (const SheetRow& row : sheet.rows) {
      int64_t length = row.label.empty() ? 0 : kTextHeight * scale;
      for (const Tensor& cell : row.cells)
        if (cell.defined()) length = std::max(length, magnified * cell.size(1));
      rows.push_back({height, length});
      height += length + gap;
    }
    height += margin - gap;
  }
};

// Copies a picture, (1 or 3, H, W) or (H, W), to its place.
void paste(const Tensor& canvas, const Tensor& picture, int64_t top, int64_t left) {
  canvas.narrow(1, top, picture.size(-2)).narrow(2, left, picture.size(-1)).copy_(picture);
}

// Draws the words of column j, the last line just above the cells.
void draw_head(const Tensor& canvas, const Layout& layout, size_t j) {
  int64_t top = layout.rows[0].begin - layout.gap / 2 -
                layout.line * static_cast<int64_t>(layout.heads[j].size());
  for (const std::string& line : layout.heads[j]) {
    const Tensor text = draw_text(line, layout.scale);
    paste(canvas, text, top, layout.columns[j].centred(text.size(1)));
    top += layout.line;
  }
}

}  // namespace

Tensor draw_sheet(const Sheet& sheet, int64_t magnified) {
  check_sheet(sheet, magnified);
  const Layout layout(sheet, magnified);
  const Tensor canvas = at::full({3, layout.height, layout.width}, 255, at::kByte);
  for (size_t j = 0; j < sheet.columns.size(); ++j) draw_head(canvas, layout, j);
  for (size_t i = 0; i < sheet.rows.size(); ++i) {
    const Tensor label = draw_text(sheet.rows[i].label, layout.scale);
    // The capitals, not the whole height with parts below the line, are in the middle.
    paste(canvas,
          label,
          layout.rows[i].centred(label.size(0)) + layout.scale,
          layout.columns[0].begin - 2 * layout.gap - label.size(1));
    for (size_t j = 0; j < sheet.columns.size(); ++j) {
      const Tensor& cell = sheet.rows[i].cells[j];
      if (!cell.defined()) continue;
      const Tensor picture = cell.repeat_interleave(magnified, 1).repeat_interleave(magnified, 2);
      paste(canvas,
            picture,
            layout.rows[i].centred(picture.size(1)),
            layout.columns[j].centred(picture.size(2)));
    }
  }
  return canvas;
}

Tensor heat_map(const Tensor& values, double top) {
  check(values.dim() == 2, "heat_map: wanted H x W values, got ", to_string(values.sizes()));
  check(!values.isnan().any().item<bool>(), "heat_map: some values are not numbers");
  const Tensor anchors = at::tensor(at::ArrayRef<double>(&kHeat[0][0], 18)).view({6, 3});
  const Tensor shares = top > 0 ? (values.to(at::kCPU, at::kDouble) / top).clamp(0, 1)
                                : at::zeros(values.sizes(), at::kDouble);
  const Tensor place = shares.unsqueeze(0) * 5;
  const Tensor below = place.floor().clamp_max(4);
  const auto colours = [&](const Tensor& index) {  // (1, H, W) to (3, H, W)
    return anchors.index({index.squeeze(0).to(at::kLong)}).permute({2, 0, 1});
  };
  return at::lerp(colours(below), colours(below + 1), (place - below).expand({3, -1, -1}))
      .round()
      .to(at::kByte)
      .contiguous();
}

}  // namespace eps::report
