// The pictures of a report's page: one PNG a cell, inside the page.
#include <fmt/format.h>

#include <cmath>

#include "eps/io/images/image.h"
#include "eps/report/markup.h"
#include "eps/report/sections.h"

namespace eps::report {
namespace {

void check_grid(const PictureGrid& sheet) {
  const auto& images = sheet.images;
  check(images.defined() && images.dim() == 5 && images.scalar_type() == at::kByte &&
            images.size(1) == static_cast<int64_t>(sheet.columns.size()),
        "report: sheet \"",
        sheet.title,
        "\": images are bytes of rows x ",
        sheet.columns.size(),
        " x C x H x W, got ",
        images.defined() ? to_string(images.sizes()) : "none");
  check(!sheet.psnr.defined() || sheet.psnr.sizes() == images.sizes().slice(0, 2),
        "report: sheet \"",
        sheet.title,
        "\": PSNR is ",
        to_string(images.sizes().slice(0, 2)),
        ", got ",
        sheet.psnr.defined() ? to_string(sheet.psnr.sizes()) : "none");
}

std::string picture_markup(const PictureGrid& sheet, int64_t row, int64_t column) {
  const Tensor image = sheet.images[row][column];
  const std::string name = fmt::format("{}, row {}", sheet.columns[column], row + 1);
  const double psnr = sheet.psnr.defined() ? sheet.psnr[row][column].item<double>() : std::nan("");
  const std::string picture =
      element("img",
              {{"src", "data:image/png;base64," + base64(encode_png(image, name))},
               {"alt", name},
               {"title", name},
               {"loading", "lazy"},
               {"width", fmt::format("{}", image.size(2))},
               {"height", fmt::format("{}", image.size(1))}});
  const std::string number =
      std::isfinite(psnr) ? element("span", {{"class", "psnr"}}, fmt::format("{:.1f}", psnr)) : "";
  return element("td", {}, element("div", {}, picture + number));
}

std::string sheet_markup(const PictureGrid& sheet) {
  check_grid(sheet);
  std::string titles, rows;
  for (const auto& column : sheet.columns) {
    titles += element("th", {{"scope", "col"}}, escape_markup(column));
  }
  for (int64_t row = 0; row < sheet.images.size(0); ++row) {
    std::string cells;
    for (int64_t column = 0; column < sheet.images.size(1); ++column) {
      cells += picture_markup(sheet, row, column) + "\n";
    }
    rows += element("tr", {}, cells) + "\n";
  }
  const std::string table =
      element("table",
              {{"style", fmt::format("--columns:{}", sheet.columns.size())}},
              element("thead", {}, element("tr", {}, titles)) + element("tbody", {}, rows));
  return element("figure",
                 {{"class", "sheet"}},
                 element("figcaption", {}, escape_markup(sheet.title)) + "\n" +
                     element("div", {{"class", "scroll"}, {"tabindex", "0"}}, table)) +
         "\n";
}

}  // namespace

std::string sheets_section(const Report& report) {
  if (report.sheets.empty()) return "";
  std::string markup = element("h2", {}, "Samples") + "\n" +
                       key("The number in the corner of a picture is its PSNR in dB.");
  for (const auto& sheet : report.sheets) markup += sheet_markup(sheet);
  return element("section", {}, markup) + "\n";
}

}  // namespace eps::report
