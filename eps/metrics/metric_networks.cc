// Networks that judge images.
#include "eps/metrics/metric_networks.h"

#include "eps/io/content_hash.h"
#include "eps/io/file.h"

namespace eps {

MetricNetworks load_metric_networks(const std::vector<std::string>& lpips,
                                    const std::string& inception,
                                    const std::string& cache,
                                    at::Device device) {
  MetricNetworks judges{.cache = FeatureCache(cache)};
  for (const auto& path : lpips) {
    const std::string bytes = read_file(path);
    judges.lpips.emplace_back(parse_safetensors(bytes, path), path, device);
    judges.identity += judges.lpips.back().net() + ":" + content_hash(bytes) + " ";
  }
  if (!inception.empty()) {
    const std::string bytes = read_file(inception);
    judges.inception.emplace(parse_safetensors(bytes, inception), inception, device);
    judges.inception_hash = content_hash(bytes);
    judges.identity += "inception:" + judges.inception_hash;
  }
  return judges;
}

}  // namespace eps
