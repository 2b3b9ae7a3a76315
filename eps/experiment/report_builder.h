// From the rows of an experiment to its report: columns, plots and pictures.
#pragma once

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/runner.h"

namespace eps::experiment {

// Returns the report of an experiment. rows and thumbnails: one for each cell, in the order of the
// cells.
report::Report make_report(const Experiment& experiment,
                           const ExperimentInputs& inputs,
                           const std::vector<report::Row>& rows,
                           const std::vector<std::optional<Thumbnails>>& thumbnails);

}  // namespace eps::experiment
