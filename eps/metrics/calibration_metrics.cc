// Metrics of calibration: of whole images, and of their measured and unmeasured parts.
#include <limits>

#include "eps/metrics/calibration.h"
#include "eps/metrics/ensemble.h"
#include "eps/metrics/interval.h"
#include "eps/metrics/measured_part.h"
#include "eps/metrics/metric.h"

namespace eps {
namespace {

Metric coverage_metric(int percent) {
  const std::string number = std::to_string(percent);
  const double level = percent / 100.0;
  return {.name = "coverage_" + number,
          .label = "Coverage " + number,
          .help = "part of the true pixels inside the central " + number + "% of the samples",
          .better = Better::target,
          .target = level,
          .digits = 3,
          .needs = {.samples = samples_for_level(level)},
          .per_image = [=](const Ensemble& e) {
            return coverage_in_order(e.ordered(), e.truth, level);
          }};
}

const Metric kInterval = {
    .name = "interval_90",
    .label = "Interval 90",
    .help =
        "part of the true pixels inside the 90% interval of a restoration: Student's below "
        "19 samples",
    .better = Better::target,
    .target = 0.9,
    .digits = 3,
    .needs = {.samples = 2},
    .per_image = [](const Ensemble& e) { return interval_coverage(e.ordered(), e.truth); }};

const Metric kCoverageOfRange = {
    .name = "coverage_range",
    .label = "Coverage range",
    .help = "part of the true pixels between least and greatest sample; wanted: (S - 1)/(S + 1)",
    .better = Better::target,
    .target = std::numeric_limits<double>::quiet_NaN(),
    .digits = 3,
    .needs = {.samples = 2},
    .per_image = [](const Ensemble& e) { return range_coverage(e.samples, e.truth); }};

std::vector<Metric> rank_metrics() {
  const auto ranks = [](const Ensemble& e) { return rank_histograms(e); };
  return {{.name = "rank_deviation",
           .label = "Rank deviation",
           .help = "sum of |fraction - 1/(S + 1)| over ranks of true pixels among samples; 0 is "
                   "calibrated",
           .needs = {.samples = 2},
           .per_image = ranks,
           .statistic = rank_deviation},
          {.name = "rank_chi2",
           .label = "Rank chi2",
           .help = "squared deviation of ranks over what chance gives; 1 is calibrated",
           .better = Better::target,
           .target = 1,
           .digits = 2,
           .needs = {.samples = 2, .images = 2},
           .per_image = ranks,
           .statistic = rank_chi2}};
}

const Metric kSpreadSkill = {
    .name = "spread_skill",
    .label = "Spread/skill",
    .help = "spread of samples over error of their mean; 1 is calibrated, less is too sure",
    .better = Better::target,
    .target = 1,
    .digits = 3,
    .needs = {.samples = 2},
    .per_image =
        [](const Ensemble& e) {
          const SpreadSkill parts = spread_skill(e.samples, e.truth);
          return at::stack({parts.variance, parts.squared_error}, 1);
        },
    .statistic =
        [](const Tensor& parts) {
          return spread_skill_ratio({parts.select(1, 0), parts.select(1, 1)});
        }};

// Returns a metric of one part of the images, averaged over the images that have it.
Metric of_part(Metric metric, const std::string& label, Part part) {
  const bool measured = part == Part::measured;
  metric.help = metric.name + (measured ? " of A^+ A x, the measured part of the images"
                                        : " of x - A^+ A x, the part that nothing measured");
  metric.name += measured ? "_measured" : "_unmeasured";
  metric.label = label + (measured ? ", measured" : ", unmeasured");
  metric.needs.problems = metric.needs.two_parts = true;
  metric.per_image = [part, whole = metric.per_image](const Ensemble& e) {
    return for_each_part(e, part, whole);
  };
  metric.statistic = [whole = metric.statistic](const Tensor& values) {
    return over_defined(values, whole);
  };
  return metric;
}

std::vector<Metric> metrics_of_parts() {
  std::vector<Metric> all;
  for (const auto& [label, metric] :
       std::vector<std::pair<std::string, Metric>>{{"Coverage 80", coverage_metric(80)},
                                                   {"Coverage 90", coverage_metric(90)},
                                                   {"Interval 90", kInterval},
                                                   {"Ranks", rank_metrics().front()},
                                                   {"Spread", kSpreadSkill}})
    for (const Part part : {Part::measured, Part::unmeasured})
      all.push_back(of_part(metric, label, part));
  return all;
}

}  // namespace

EPS_METRICS(70,
            {coverage_metric(50), coverage_metric(80), coverage_metric(90), coverage_metric(95)});
EPS_METRICS(71, {kInterval, kCoverageOfRange});
EPS_METRICS(72, rank_metrics());
EPS_METRICS(73, {kSpreadSkill});
EPS_METRICS(74, metrics_of_parts());

}  // namespace eps
