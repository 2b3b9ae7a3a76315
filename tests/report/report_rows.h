// Rows and reports of few numbers, for tests.
#pragma once

#include <limits>

#include "eps/report/report.h"

namespace eps::report {

inline const double kNan = std::numeric_limits<double>::quiet_NaN();
inline const double kInfinity = std::numeric_limits<double>::infinity();

inline Row row(const std::string& method, std::map<std::string, Reading> metrics = {}) {
  return {.task = "box_inpainting",
          .method = method,
          .spec = method,
          .model = "prior",
          .steps = 10,
          .nfe = 10,
          .seconds = 0.5,
          .metrics = std::move(metrics)};
}

// Returns rows of one metric.
inline std::vector<Row> rows_of(const std::string& metric, const std::vector<double>& values) {
  std::vector<Row> rows;
  for (const double value : values) {
    rows.push_back(
        row(std::string(1, static_cast<char>('A' + rows.size())), {{metric, {value, 0.1}}}));
  }
  return rows;
}

inline Report report_of(const std::vector<std::string>& columns, const std::vector<Row>& rows) {
  return {.title = "T",
          .about = "",
          .parameters = {},
          .tasks = {"box_inpainting"},
          .columns = columns,
          .plots = {},
          .rows = rows,
          .sheets = {}};
}

}  // namespace eps::report
