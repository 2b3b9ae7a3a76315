// Running an experiment: cell by cell into a folder, from which an interrupted run resumes.
//
//   experiment.json             the experiment
//   cells/<name>/samples.npy    (S, N, C, H, W)
//   cells/<name>/sampling.json  the cost of the samples; written when they are complete
//   cells/<name>/row.json       their metrics; written when the cell is finished
//   features/                   Inception features, by the images' content
//   rows.json rows.csv report.md report.html   all cells that are finished, so far
#pragma once

#include "eps/experiment/experiment.h"
#include "eps/experiment/protocol.h"
#include "eps/metrics/metric_networks.h"
#include "eps/runtime/rank_environment.h"

namespace eps::experiment {

// A `LoadedDenoiser` is a denoiser, with the number of images in its training.
struct LoadedDenoiser {
  std::shared_ptr<const Denoiser> denoiser;
  int64_t images_seen = 0;
};

// The `ExperimentInputs` are the images, the networks and the device of an experiment.
struct ExperimentInputs {
  Images images;
  bool bounded = true;  // images are in [-1, 1], and samples are clipped to it
  std::map<std::string, std::vector<std::string>> models = {};  // files by name
  // Returns the network of a file, for a method with this input.
  std::function<LoadedDenoiser(
      const std::string& file, const NetworkInput& input, const std::string& method)>
      load;
  MetricNetworks judges = {};
  at::Device device = at::kCPU;
  std::string arithmetic = {};  // of the networks, where not their own
};

struct ExperimentOptions {
  std::string out;
  // The whole experiment, where the one that is run is a part: the report shows its finished cells.
  std::optional<Experiment> whole = {};
  int64_t batch = 0;       // samples in memory together; 0: the experiment's own, or 16
  int64_t vjp_batch = 64;  // samples with derivatives in memory together
  bool keep_samples = true;
  RankNumbers ranks = {};  // every process takes its share of the cells
  std::function<void(const std::string&)> say = {};
};

// The error of a row that no process has begun.
inline const std::string kNotRunYet = "not run yet";

// Runs the cells that are not finished, and writes the report. Returns the experiment's rows. A
// cell that fails is a row with its error, and is tried again the next time. A folder of another
// experiment, or with something else in it, is an Error.
std::vector<report::Row> run_experiment(const Experiment& experiment,
                                        const ExperimentInputs& inputs,
                                        const ExperimentOptions& options);

}  // namespace eps::experiment
