// The colour, marker and name of each line of a report: one choice for all its plots.
#pragma once

#include "eps/report/line_plot.h"
#include "eps/report/report.h"

namespace eps::report {

class Styles {
 public:
  explicit Styles(const std::vector<Row>& rows);

  // Returns the line, without points yet, of all rows of this row's method.
  Series of_method(const Row& row) const;
  // Returns the line of rows with its number of steps: "EPS (20)" if the method has several.
  Series of_steps(const Row& row) const;

 private:
  struct Method {
    std::string name;
    std::vector<int64_t> steps;
    std::vector<std::string> labels;  // of the first row with these steps: tasks may differ in NFE
  };
  std::vector<Method> methods_;  // in the order of their rows
};

// `Drawn` holds the rows to draw. If they made more lines, one for each method and number of steps,
// than styles tell apart, it has one row for each task and method: that with the most evaluations.
struct Drawn {
  std::vector<const Row*> rows;
  bool all = true;

  // Returns the row's line: of_steps(), in the plain style if it is the only one of its method.
  Series series(const Styles& styles, const Row& row) const;
  // Returns a sentence for the reader if rows are missing.
  std::string note() const;
};
Drawn rows_to_draw(const std::vector<Row>& rows, const std::function<bool(const Row&)>& wanted);

// Appends the point to the series of this name, which may be a new one.
void add_point(std::vector<Series>& all, const Series& series, const Point& point);

}  // namespace eps::report
