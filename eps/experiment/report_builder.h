// From the rows of an experiment to its report: which columns, plots and pictures it has.
#pragma once

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/runner.h"

namespace eps::experiment {

// rows and thumbnails: one for each cell, in their order.
report::Report make_report(const Experiment& experiment,
                           const ExperimentInputs& inputs,
                           const std::vector<report::Row>& rows,
                           const std::vector<std::optional<Thumbnails>>& thumbnails);

}  // namespace eps::experiment
