// Networks of metrics, read from their files.
#include "eps/metrics/metric_networks.h"

#include <algorithm>

#include "eps/io/content_hash.h"
#include "eps/io/file.h"

namespace eps {

const Lpips* MetricNetworks::find_lpips(const std::string& net) const {
  const auto found = std::find_if(lpips.begin(), lpips.end(), [&](const Lpips& one) {
    return net.empty() || one.net() == net;
  });
  return found == lpips.end() ? nullptr : &*found;
}

MetricNetworks load_metric_networks(const std::vector<std::string>& lpips,
                                    const std::string& inception,
                                    const std::string& cache,
                                    at::Device device) {
  MetricNetworks networks{.cache = FeatureCache(cache)};
  for (const auto& path : lpips) {
    const std::string bytes = read_file(path);
    networks.lpips.emplace_back(parse_safetensors(bytes, path), path, device);
    networks.identity += networks.lpips.back().net() + ":" + content_hash(bytes) + " ";
  }
  if (!inception.empty()) {
    const std::string bytes = read_file(inception);
    networks.inception.emplace(parse_safetensors(bytes, inception), inception, device);
    networks.inception_hash = content_hash(bytes);
    networks.identity += "inception:" + networks.inception_hash;
  }
  return networks;
}

}  // namespace eps
