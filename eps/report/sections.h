// The parts of a report's page, in its order; each is empty where the report has nothing for it.
#pragma once

#include "eps/report/report.h"
#include "eps/report/styles.h"

namespace eps::report {

std::string tables_section(const Report& report);
std::string plots_section(const Report& report, const Styles& styles);
// Coverage of intervals and histograms of ranks.
std::string calibration_section(const Report& report, const Styles& styles);
std::string sheets_section(const Report& report);

}  // namespace eps::report
