// The sections of a report's page, in its order; a section without content is empty.
#pragma once

#include "eps/report/report.h"
#include "eps/report/styles.h"

namespace eps::report {

std::string tables_section(const Report& report);
std::string plots_section(const Report& report, const Styles& styles);
// Returns coverage of intervals and histograms of ranks.
std::string calibration_section(const Report& report, const Styles& styles);
std::string sheets_section(const Report& report);

}  // namespace eps::report
