// The report of an experiment, built from its rows: columns, plots and pictures.
#pragma once

#include "eps/experiment/inputs.h"
#include "eps/experiment/report_cells.h"

namespace eps::experiment {

// Writes rows.json, rows.csv, report.md and report.html of these cells into the folder `out`.
void write_reports(const std::string& out,
                   const Experiment& experiment,
                   const ExperimentInputs& inputs,
                   const std::vector<ReportCell>& cells);

}  // namespace eps::experiment
