// Rows averaged over tasks.
#pragma once

#include "eps/report/report.h"

namespace eps::report {

struct Average {
  std::vector<Row> rows;              // one for each method and number of steps
  std::vector<std::string> left_out;  // labels of rows that lack a task
};

// Returns the means of rows of one method and number of steps (and, where these are not enough,
// images seen) that have every task. A metric must be there on every task too. Standard errors are
// NaN: the tasks share their images, so the errors of their means are not independent.
Average average_rows(const std::vector<Row>& rows, const std::vector<std::string>& tasks);

}  // namespace eps::report
