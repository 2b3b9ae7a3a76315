// Networks of metrics: LPIPS and Inception, with weights of the user's own; none comes with eps.
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
  std::string identity = {};  // a hash of all files: other networks give other numbers

  // Returns the first weights of this net, or the first weights of any for ""; null: there are
  // none.
  const Lpips* find_lpips(const std::string& net) const;
};

// Reads files that `eps convert` wrote onto the device; an empty name stands for no network.
// Features are kept in the folder `cache`, unless its name is empty.
MetricNetworks load_metric_networks(const std::vector<std::string>& lpips,
                                    const std::string& inception,
                                    const std::string& cache,
                                    at::Device device);

}  // namespace eps
