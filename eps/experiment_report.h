// From the rows of an experiment to its report: which columns, plots and pictures it has.
#pragma once

#include "eps/cell_folder.h"
#include "eps/experiment_run.h"

namespace eps {

// rows and glimpses: one for each cell, in their order.
Report make_report(const Experiment& experiment,
                   const ExperimentInputs& inputs,
                   const std::vector<Row>& rows,
                   const std::vector<std::optional<Glimpse>>& glimpses);

}  // namespace eps
