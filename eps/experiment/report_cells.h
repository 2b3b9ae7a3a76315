// The cells in the report of an experiment: those of the command that writes it, and those that
// earlier commands have finished.
#pragma once

#include "eps/experiment/cell_folder.h"
#include "eps/experiment/experiment.h"

namespace eps::experiment {

// A `ReportCell` is a cell with its row and its pictures.
struct ReportCell {
  std::string folder;  // its name
  bool of_mean = false;
  report::Row row;
  std::optional<Thumbnails> thumbnails;
};

// Returns the row of a cell, or nothing if it was never scored. Where other metric networks than
// `judges` scored the cell, the row is without their scores.
std::optional<report::Row> read_row(const CellFolder& folder, const std::string& judges);

// Returns `own` and the other finished cells of the whole experiment in the folder of the cells, in
// the experiment's order. Several rows may share task, label and steps, where networks or
// arithmetic differ: then own rows are shown, or else the last for each number of images in the
// network's training.
std::vector<ReportCell> merge_finished(std::vector<ReportCell> own,
                                       const Experiment& whole,
                                       const std::string& cells,
                                       const std::string& judges);

}  // namespace eps::experiment
