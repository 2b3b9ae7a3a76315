// Metrics: numbers about samples and their truths, each registered in the file that computes it.
//
//   EPS_METRICS(10, {{.name = "psnr", .label = "PSNR", ..., .per_image = ...}});
//
// registers the metrics of one file, in their order, behind those of files with a lower number:
// the order of tables. Nothing else names them. The numbers so far: psnr 10, ssim 20, lpips 30,
// frechet 40, scores 50, mmd 60, calibration 70 to 74, consistency 80.
#pragma once

#include "eps/metrics/bootstrap.h"

namespace eps {

struct Ensemble;

enum class Better { higher, lower, target };

// Networks with weights of the user's own, which eps does not come with.
enum class MetricNetwork { none, lpips, inception };

// Conditions without which a metric is absent, with the reason.
struct MetricNeeds {
  MetricNetwork network = MetricNetwork::none;
  std::string lpips_net = {};  // "alex", "vgg" or "squeeze"; empty: any
  bool problems = false;       // the measurements that the samples were drawn for
  bool two_parts = false;      // of the images, one measured and one not (measured_part.h)
  int64_t samples = 1;         // of each image
  int64_t images = 1;
  int64_t side = 1;  // pixels, of height and width
};

struct Metric {
  std::string name;   // in JSON, CSV and experiments: "energy_score"
  std::string label;  // in tables: "Energy score"
  std::string help;   // one line for `eps list metrics`
  Better better = Better::lower;
  double target = 0;  // the value of a perfect sampler, if `better` is target
  int digits = 4;     // after the point, in tables
  MetricNeeds needs = {};

  // A metric is either a statistic of values that each image has by itself, by default their mean:
  // per_image returns (n) or (n, ...) values for a batch of n images; or it is a statistic of all
  // images together. A metric that needs Inception is given features in place of images.
  std::function<Tensor(const Ensemble& batch)> per_image = {};
  std::function<Statistic(const Tensor& values)> statistic = mean_of;
  std::function<Statistic(const Ensemble& all)> of_all = {};
  bool every_length = false;  // of features: not only for the first that the network has
};

// Returns all metrics, in the order of tables. Metrics of Inception features have their general
// names ("fid", "crps_inception").
const std::vector<Metric>& metrics();
bool register_metrics(int place, std::vector<Metric> metrics);

// Returns the metric with this name, which may have a length of features in it ("fid_768",
// "crps_768"); nothing if there is none. find_metric() throws an Error instead.
std::optional<Metric> known_metric(const std::string& name);
Metric find_metric(const std::string& name);

// Returns the name of an Inception metric for features of this length: "fid" and "crps_inception"
// for 2048, "fid_768" and "crps_768" for 768. Other names stay.
std::string metric_name(const std::string& general, int64_t features);

// Returns how far a value is from perfect, so that less is better for every metric.
double badness(const Metric& metric, double value);

#define EPS_METRICS_AT_(number, ...) \
  [[maybe_unused]] const bool registered_metrics_##number = register_metrics(__VA_ARGS__)
#define EPS_METRICS_(number, ...) EPS_METRICS_AT_(number, __VA_ARGS__)
#define EPS_METRICS(...) EPS_METRICS_(__COUNTER__, __VA_ARGS__)

}  // namespace eps
