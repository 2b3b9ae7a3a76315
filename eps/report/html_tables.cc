// The tables of a report's page.
#include <fmt/format.h>

#include <algorithm>

#include "eps/report/markup.h"
#include "eps/report/numbers.h"
#include "eps/report/sections.h"
#include "eps/report/table.h"

namespace eps::report {
namespace {

std::string header(const Table& table) {
  std::string cells = element("th", {{"class", "method"}, {"scope", "col"}}, "Method") +
                      element("th",
                              {{"class", "nfe"},
                               {"scope", "col"},
                               {"title", "Evaluations of the denoiser for one sample"}},
                              "NFE");
  if (table.shows_model) cells += element("th", {{"class", "text"}, {"scope", "col"}}, "Model");
  if (table.shows_images_seen) cells += element("th", {{"scope", "col"}}, "Images seen");
  for (const auto& metric : table.columns) {
    const char* kind = metric.better == Better::target ? "arrow target" : "arrow";
    cells += element(
        "th",
        {{"scope", "col"}, {"title", metric.help}},
        escape_markup(metric.label) + " " + element("span", {{"class", kind}}, arrow(metric)));
  }
  cells += element("th", {{"scope", "col"}, {"title", "Seconds for one sample"}}, "s/sample");
  return element("thead", {}, element("tr", {}, cells));
}

std::string cell_markup(const TableCell& cell) {
  if (cell.value.empty()) return element("td", {{"class", "absent"}}, "–");
  std::string value = typeset(cell.value);
  if (cell.rank == 1) value = element("b", {}, value);
  if (cell.rank == 2) value = element("u", {}, value);
  if (!cell.se.empty()) value += fmt::format(" {}", element("small", {}, "±" + typeset(cell.se)));
  return element("td", {}, value);
}

// Returns the spec of a row, for readers who point at the method.
std::string provenance(const Row& row) {
  std::string text = row.spec;
  if (!row.model.empty()) text += ", model " + row.model;
  if (row.vjps > 0) text += fmt::format(", {} VJPs", plain_number(row.vjps));
  if (row.solves > 0) text += fmt::format(", {} solves", plain_number(row.solves));
  return text;
}

std::string line_markup(const Table& table, const Line& line, bool parted) {
  const Row& row = line.row;
  std::string cells =
      element("th",
              {{"class", "method"}, {"scope", "row"}, {"title", provenance(row)}},
              escape_markup(row.method)) +
      element("td", {{"class", "nfe"}}, typeset(known_number(row.nfe, plain_number)));
  if (table.shows_model) cells += element("td", {{"class", "text"}}, escape_markup(row.model));
  if (table.shows_images_seen) {
    cells += element(
        "td", {}, typeset(known_number(static_cast<double>(row.images_seen), brief_number)));
  }
  if (row.error.empty()) {
    for (const auto& cell : line.cells) cells += cell_markup(cell);
    cells += element("td", {}, typeset(known_number(row.seconds, duration_number)));
  } else {
    cells +=
        element("td",
                {{"class", "failure"}, {"colspan", fmt::format("{}", table.columns.size() + 1)}},
                element("span", {}, escape_markup(row.error)));
  }
  return element("tr", parted ? Attributes{{"class", "group"}} : Attributes{}, cells) + "\n";
}

// Tells whether a hairline parts line i from the line above: another method begins, and one of the
// two methods has several lines.
bool starts_group(const std::vector<Line>& lines, size_t i) {
  const auto same = [&](size_t a, size_t b) {
    return b < lines.size() && lines[a].row.method == lines[b].row.method;
  };
  return i > 0 && !same(i - 1, i) && (same(i, i + 1) || (i > 1 && same(i - 2, i - 1)));
}

std::string table_markup(const Table& table) {
  std::string body;
  size_t longest = 0;
  for (size_t i = 0; i < table.lines.size(); ++i) {
    longest = std::max(longest, table.lines[i].row.method.size());
    body += line_markup(table, table.lines[i], starts_group(table.lines, i));
  }
  std::string notes;
  for (const auto& note : table.notes) notes += element("li", {}, escape_markup(note));
  // The place of the sticky second column follows from the width of the first.
  const std::string width =
      fmt::format("--method:{}ch;--columns:{}", std::max<size_t>(longest, 7), table.columns.size());
  const std::string markup = element(
      "table", {{"style", width}}, header(table) + "\n" + element("tbody", {}, "\n" + body));
  return element("figure",
                 {{"class", "table"}},
                 element("figcaption", {}, escape_markup(table.title)) + "\n" +
                     element("div", {{"class", "scroll"}, {"tabindex", "0"}}, markup) +
                     (notes.empty() ? "" : element("ul", {{"class", "notes"}}, notes))) +
         "\n";
}

}  // namespace

std::string tables_section(const Report& report) {
  const auto tables = make_tables(report);
  if (tables.empty()) return "";
  std::string markup =
      element("h2", {}, "Results") + "\n" +
      key("Best in " + element("b", {}, "bold") + ", second " + element("u", {}, "underlined") +
          ", by the digits shown; ± one standard error over images. NFE: evaluations of the "
          "denoiser for one sample.");
  for (const auto& table : tables) markup += table_markup(table);
  return element("section", {}, markup) + "\n";
}

}  // namespace eps::report
