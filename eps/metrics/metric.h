// Metrics: what each number that judges samples is called, and which of two values is better.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A number with its standard error over images; the latter is NaN where it cannot be told.
struct Reading {
  double value = 0;
  double se = 0;
};

enum class Better { higher, lower, target };

struct Metric {
  std::string name;   // in JSON, CSV and experiments: "energy_score"
  std::string label;  // in tables: "Energy score"
  std::string help;   // one line for `eps list metrics`
  Better better = Better::lower;
  double target = 0;  // what a perfect sampler has, where that is what counts
  int digits = 4;     // after the point, in tables
};

// All metrics, in the order of tables. Those of Inception features are here by their general names
// ("fid", "crps_inception").
const std::vector<Metric>& metrics();

// By its name, also that of features of a certain length ("fid_768", "crps_768"); an unknown one is
// an Error.
Metric find_metric(const std::string& name);

// The name of an Inception metric for features of this length: "fid" and "crps_inception" for 2048,
// "fid_768" and "crps_768" for 768. Other names stay.
std::string metric_name(const std::string& general, int64_t features);

// How far from perfect, so that less is better for every metric.
double badness(const Metric& metric, double value);

}  // namespace eps
