// The outcome of an experiment as files that people and programs read.
#pragma once

#include "eps/metrics/metric.h"

namespace eps::report {

// A `Row` holds the results of one cell of an experiment: a method on a task.
struct Row {
  std::string task;    // "random_inpainting"
  std::string method;  // its name in tables: "EPS"
  std::string spec;    // with its options: "eps:steps=20"
  std::string model;   // name of the network: "prior"; empty: an exact prior
  int64_t steps = 0;   // as the experiment says; 0: the method's own
  double nfe = 0;      // evaluations of the denoiser a sample
  double vjps = 0, solves = 0;
  int64_t images = 0, samples = 0;
  int64_t images_seen = 0;  // by the network in training; 0: unknown
  double seconds = 0;       // a sample
  std::map<std::string, Reading> metrics = {};
  std::map<std::string, std::string> absent = {};  // metrics without a value, and the reasons
  std::vector<double> ranks = {};  // of the truth among the samples: fractions, sum 1; empty: none
  std::string error = {};          // set if the cell failed
};

// A `Plot` draws lines through the rows of one task that share a method: a metric against a number
// of the row.
struct Plot {
  std::string x;  // "nfe", "images_seen", "seconds" or "task" (in the order of the experiment)
  std::string y;  // name of a metric
};
void check_plot(const Plot& plot);  // throws an Error unless both axes are known

// A `PictureGrid` holds pictures side by side, all of one size.
struct PictureGrid {
  std::string title;                 // "Random inpainting"
  std::vector<std::string> columns;  // "truth", "measurement", "DPS (100)", ...
  Tensor images;                     // uint8 (rows, columns, C, H, W), C = 1 or 3
  Tensor psnr;                       // (rows, columns) in dB; NaN: without a number
};

struct Report {
  std::string title, about;
  std::vector<std::pair<std::string, std::string>> parameters;  // "images": "100"
  std::vector<std::string> tasks;                               // in order
  std::vector<std::string> columns;                             // metrics of the table, in order
  std::vector<Plot> plots;
  std::vector<Row> rows;  // in order
  std::vector<PictureGrid> sheets;
};

// Returns a list of objects with the fields of Row. NaN and infinities become null, which is read
// as NaN.
std::string to_json(const std::vector<Row>& rows);
// Reads the text of to_json(); `name` is for messages. A field that is missing, unknown or of the
// wrong type is an Error.
std::vector<Row> parse_rows(const std::string& json, const std::string& name);
// Returns all metrics that any row has, with their standard errors.
std::string to_csv(const std::vector<Row>& rows);
// Returns a table for each task: the best value bold, the second underlined.
std::string to_markdown(const Report& report);
// Returns one page that needs no other file: tables, plots (SVG), rank histograms, coverage,
// sheets.
std::string to_html(const Report& report);

}  // namespace eps::report
