// A histogram of ranks as SVG.
#pragma once

#include "eps/report/line_plot.h"

namespace eps::report {

struct RankHistogram {
  std::vector<double> fractions;  // of the truth's rank among S samples, S + 1 of them, sum 1
  double highest = 4;             // times uniform; bars beyond are cut and say their height
  Style style = {};
  std::string title;  // for readers who cannot see the plot
};

// Draws bars, and the line of a uniform histogram.
std::string rank_histogram(const RankHistogram& histogram);

}  // namespace eps::report
