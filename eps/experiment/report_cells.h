// The cells that the report of an experiment shows: those of the command that writes it, and what
// commands before it have finished of the rest.
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

// What is known of a cell by now, as judged by these judges; what others said is left out. Nothing,
// if it was never scored.
std::optional<report::Row> read_row(const CellFolder& folder, const std::string& judges);

// `own`, and what else of the whole experiment is finished in the folder of the cells, in the
// experiment's order. Of rows that share task, label and steps, and so were drawn with other
// networks or arithmetic, own ones are shown, or else the last for each number of images that the
// network had seen.
std::vector<ReportCell> merge_finished(std::vector<ReportCell> own,
                                       const Experiment& whole,
                                       const std::string& cells,
                                       const std::string& judges);

}  // namespace eps::experiment
