// The cells of an experiment's report: the cells of the command that writes it, and all others that
// earlier commands have finished.
#pragma once

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/experiment.h"

namespace eps::experiment {

struct ReportCell {
  std::string folder;  // its name
  bool of_mean = false;
  report::Row row;
  std::optional<Thumbnails> thumbnails;
};

// Returns the row of a cell before anything is known of it.
report::Row empty_row(const Experiment& experiment, const Cell& cell);

// Returns the row of a cell without scores by other networks of metrics than those with this
// identity. Nothing, if the cell was never scored.
std::optional<report::Row> read_row(const CellFolder& folder, const std::string& networks);

// Returns `own`, and all other cells of the whole experiment that are finished in the folder of the
// cells, in the experiment's order. Rows that share task, label and steps were drawn with other
// networks or arithmetic: an own one goes first, then the last for each number of images that the
// network had seen.
std::vector<ReportCell> merge_finished(std::vector<ReportCell> own,
                                       const Experiment& whole,
                                       const std::string& cells,
                                       const std::string& networks);

}  // namespace eps::experiment
