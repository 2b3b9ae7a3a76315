// A report as Markdown: one table a task, the best value bold, the second underlined.
#include <fmt/format.h>

#include "eps/report/numbers.h"
#include "eps/report/table.h"

namespace eps::report {
namespace {

// Returns text that is neither markup nor the end of a cell or a line.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>|#~&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return escaped;
}

std::string marked(const TableCell& cell) {
  if (cell.value.empty()) return "–";
  if (cell.rank == 1) return "**" + cell.value + "**";
  return cell.rank == 2 ? "<u>" + cell.value + "</u>" : cell.value;
}

std::string header_row(const Table& table) {
  std::string names = "| Method | NFE |";
  std::string rule = "|:---|---:|";
  if (table.shows_model) names += " Model |", rule += ":---|";
  if (table.shows_images_seen) names += " Images seen |", rule += "---:|";
  for (const auto& metric : table.columns) {
    names += fmt::format(" {} {} |", escape(metric.label), arrow(metric));
    rule += "---:|";
  }
  return names + " s/sample |\n" + rule + "---:|\n";
}

std::string line_text(const Table& table, const Line& line) {
  const Row& row = line.row;
  std::string text =
      fmt::format("| {} | {} |", escape(row.method), known_number(row.nfe, plain_number));
  if (table.shows_model) text += fmt::format(" {} |", escape(row.model));
  if (table.shows_images_seen) {
    text += fmt::format(" {} |", known_number(static_cast<double>(row.images_seen), brief_number));
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    text += fmt::format(" {} |", row.error.empty() ? marked(line.cells[i]) : "–");
  }
  return text + fmt::format(" {} |\n", known_number(row.seconds, duration_number));
}

std::string section(const Table& table) {
  std::string text = fmt::format("\n## {}\n\n{}", escape(table.title), header_row(table));
  for (const auto& line : table.lines) text += line_text(table, line);
  std::string notes;
  for (const auto& line : table.lines) {
    if (line.row.error.empty()) continue;
    notes += fmt::format("- {}: {}\n", escape(row_label(line.row)), escape(line.row.error));
  }
  for (const auto& note : table.notes) notes += fmt::format("- {}\n", escape(note));
  return notes.empty() ? text : text + "\n" + notes;
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string text = fmt::format("# {}\n", escape(report.title));
  if (!report.about.empty()) text += fmt::format("\n{}\n", escape(report.about));
  if (!report.parameters.empty()) text += "\n";
  for (const auto& [name, value] : report.parameters) {
    text += fmt::format("- {}: {}\n", escape(name), escape(value));
  }
  for (const auto& table : make_tables(report)) text += section(table);
  return text + "\nStandard errors are in `rows.csv` and `report.html`.\n";
}

}  // namespace eps::report
