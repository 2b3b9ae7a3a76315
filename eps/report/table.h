// The content of a table of results, whatever the format: cells, ranks, notes.
#pragma once

#include "eps/report/report.h"

namespace eps::report {

struct TableCell {
  std::string value;    // "24.34"; empty: absent
  std::string se = {};  // "0.12"; empty: unknown
  int rank = 0;         // 1: best, 2: second; 0: neither
};

struct Line {
  Row row;
  std::vector<TableCell> cells = {};  // as Table::columns; none if the row is an error
};

struct Table {
  std::string title;
  std::vector<Metric> columns;  // with the digits that this report needs
  // Columns that only lines of one method and number of steps need, to tell them apart.
  bool shows_model = false, shows_images_seen = false;
  std::vector<Line> lines = {};
  std::vector<std::string> notes = {};  // to be read below the table
};

// Returns a table for each task that has rows, and their average where there are two tasks or more.
//
// Ranks follow from the digits, so that equal cells have equal marks: after two that are best there
// is no second (as in the paper's tables). Where all cells are equal, none is marked.
std::vector<Table> make_tables(const Report& report);

// Returns the tasks of the report, then others in the order of their rows.
std::vector<std::string> task_order(const Report& report);

// Returns "Random inpainting" for "random_inpainting". Specs of operators stay as they are.
std::string task_title(const std::string& task);

// Returns "EPS (20)": with the evaluations, or with the steps if those are unknown.
std::string row_label(const Row& row);

// Returns "↑", "↓" or "→ 0.9".
std::string arrow(const Metric& metric);

// Returns the metric's value; NaN where there is none.
double value_of(const Row& row, const std::string& metric);

}  // namespace eps::report
