// Runs experiments: cell by cell into a folder, which the same command completes after any
// interruption.
//
//   experiment.json             the experiment
//   cells/<name>/samples.npy    (S, N, C, H, W)
//   cells/<name>/sampling.json  the cost of drawing them; there when they are whole
//   cells/<name>/row.json       their metrics; there when the cell is finished
//   cells/<name>/row_of_mean.json      likewise, of the mean of the samples
//   cells/<name>/glimpse.safetensors   the pictures of the report; glimpse_of_mean likewise
//   features/                   Inception features, by the images' content
//   rows.json rows.csv report.md report.html   all cells that are finished, so far
#pragma once

#include "eps/experiment/experiment.h"
#include "eps/experiment/inputs.h"
#include "eps/runtime/rank_environment.h"

namespace eps::experiment {

struct ExperimentOptions {
  std::string out;
  // The full experiment, if only a part of it is run; the report covers all that is finished of it.
  std::optional<Experiment> whole = {};
  int64_t batch = 0;       // samples in memory together; 0: the experiment's own, or 16
  int64_t vjp_batch = 64;  // samples whose derivatives are in memory together
  bool keep_samples = true;
  RankNumbers ranks = {};    // every process runs its share of the cells
  double report_every = 60;  // seconds between two reports while cells are run
  std::function<void(const std::string&)> say = {};
  std::function<bool()> stop = {};  // true ends the run with a report, inside a cell too
};

// The error of a row that no process has run.
inline const std::string kNotRunYet = "not run yet";
// The beginning of the error of a row whose network was not given.
inline const std::string kNeedsNetwork = "needs the network ";

// Runs all cells that are not finished yet, and writes the report: after the last cell, when the
// run ends early, and now and then between. Returns the experiment's rows. A cell that fails is a
// row with its error, and is run again the next time. A folder of another experiment, or with
// anything else in it, is an Error.
std::vector<report::Row> run_experiment(const Experiment& experiment,
                                        const ExperimentInputs& inputs,
                                        const ExperimentOptions& options);

}  // namespace eps::experiment
