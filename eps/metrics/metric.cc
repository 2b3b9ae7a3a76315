// The registry of metrics, and their names for features of other lengths.
#include "eps/metrics/metric.h"

#include <fmt/format.h>

#include <cmath>
#include <regex>

#include "eps/base/spec.h"

namespace eps {
namespace {

// The length that FID is defined with; its metrics go by their general names.
constexpr int64_t kFidFeatures = 2048;

struct Registry {
  std::map<int, std::vector<Metric>> by_place;
  std::vector<Metric> all;  // the same, joined
};

Registry& registry() {
  static Registry registry;
  return registry;
}

std::string replace(const std::string& text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : std::string(text).replace(at, what.size(), by);
}

}  // namespace

const std::vector<Metric>& metrics() { return registry().all; }

bool register_metrics(int place, std::vector<Metric> metrics) {
  const bool added = registry().by_place.emplace(place, std::move(metrics)).second;
  check(added, "metrics: two files have the place ", place, " in tables");
  registry().all.clear();
  for (const auto& [number, part] : registry().by_place)
    registry().all.insert(registry().all.end(), part.begin(), part.end());
  return true;
}

std::string metric_name(const std::string& general, int64_t features) {
  if (features == kFidFeatures) return general;
  const std::string length = fmt::format("_{}", features);
  return general == "fid" ? general + length : replace(general, "_inception", length);
}

std::optional<Metric> known_metric(const std::string& name) {
  std::smatch length;
  const bool has_length = std::regex_search(name, length, std::regex("_([1-9][0-9]{0,6})(_|$)"));
  const int64_t features = has_length ? std::stoll(length[1]) : kFidFeatures;
  for (const Metric& metric : metrics()) {
    if (metric.name == name) return metric;
    if (metric_name(metric.name, features) != name) continue;
    const std::string label = metric.name == "fid" ? "FID-Inception" : metric.label;
    Metric found = metric;
    found.name = name;
    found.label = replace(label, "Inception", length[1]);
    found.help = replace(metric.help, "Inception features", length.str(1) + " Inception features");
    return found;
  }
  return {};
}

Metric find_metric(const std::string& name) {
  if (auto found = known_metric(name)) return *std::move(found);
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  throw UnknownName("metric", name, names);
}

double badness(const Metric& metric, double value) {
  switch (metric.better) {
    case Better::higher:
      return -value;
    case Better::lower:
      return value;
    case Better::target:
      return std::abs(value - metric.target);
  }
  fail("badness: ", metric.name, " does not say which values are better");
}

}  // namespace eps
