// Experiments: tables and figures described by small JSON files.
//
//   {"title": "Main comparison",
//    "about": "What it shows, and which table of the paper it is.",
//    "tasks": ["random_inpainting", "box_inpainting"],
//    "methods": [{"label": "DPS", "method": "dps"},
//                {"label": "EPS", "method": "eps", "steps": [100, 20, 1]}],
//    "metrics": ["psnr", "energy_score"],
//    "plots": [{"x": "nfe", "y": "psnr"}]}
#pragma once

#include "eps/methods/method.h"
#include "eps/report/report.h"

namespace eps::experiment {

// A `MethodEntry` is a row of the tables, or several rows that differ in their steps.
struct MethodEntry {
  std::string label;
  std::string method;               // "dps:scale=3"
  std::string model = {};           // the network; {task} stands for the task. Empty: the input's
  std::vector<int64_t> steps = {};  // one row each; none: the method's own
  std::vector<std::string> tasks = {};  // with this method; none: all
  std::string score = "samples";        // "samples", or "mean" of the samples
};

// The number of images of a cell that are kept for pictures.
constexpr int64_t kMostSheetImages = 8;

struct Experiment {
  std::string title, about;
  // `data` names a data set, or "exact:..." (eps/priors/exact_data.h); empty: the user names one.
  std::string data = {};
  int64_t images = 100, samples = 10;
  double sigma_y = 0.05;
  uint64_t seed = 0;
  int64_t batch = 0;  // images in memory together; 0: the program's default
  std::vector<std::string> tasks;
  std::vector<MethodEntry> methods;
  std::vector<std::string> metrics;  // columns of the tables
  std::vector<report::Plot> plots = {};
  std::string sheet = "methods";  // pictures: methods side by side, samples of each, or none
  int64_t sheet_images = 4;
};

// Reads an experiment. An unknown field, task, method or metric, or a value of the wrong type, is
// an Error that names it; `source` is for messages.
Experiment parse_experiment(const std::string& json, const std::string& source);
std::string to_json(const Experiment& experiment);

// A `Cell` is one unit of work: a method with its options on a task, with a network.
struct Cell {
  std::string task, label, method;
  int64_t steps = 0;       // 0: the method's own
  std::string model;       // name of the network; empty: an exact prior
  std::string model_file;  // empty: none was given
  bool of_mean;            // the row scores the mean of the samples
  std::string folder;      // a name for the folder of its samples
  MethodChoice choice;     // the method with the values for the task and the steps
};

// Returns all cells, task by task, in the order of the experiment. models: files by name; a name
// with several files (a network at several times of its training) makes a cell for each.
std::vector<Cell> cells_of(const Experiment& experiment,
                           const std::map<std::string, std::vector<std::string>>& models);

// Tells whether an exact prior stands for data and networks.
bool is_exact(const Experiment& experiment);

}  // namespace eps::experiment
