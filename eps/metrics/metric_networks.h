// Networks that judge images: LPIPS and Inception. Their weights are the user's to bring; none
// comes with eps.
#pragma once

#include <optional>

#include "eps/metrics/feature_cache.h"
#include "eps/metrics/lpips.h"

namespace eps {

struct MetricNetworks {
  std::vector<Lpips> lpips = {};
  std::optional<Inception> inception = {};
  std::string inception_hash = {};  // of its file
  FeatureCache cache{""};
  std::string identity = {};  // of all the files together: other judges, other numbers
};

// Files that `eps convert` wrote, on the device; an empty name: none. Features are kept in the
// folder `cache`, if one is named.
MetricNetworks load_metric_networks(const std::vector<std::string>& lpips,
                                    const std::string& inception,
                                    const std::string& cache,
                                    at::Device device);

}  // namespace eps
