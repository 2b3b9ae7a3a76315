// Features of images kept in files.
#include "eps/metrics/feature_cache.h"

#include <filesystem>
#include <optional>

#include "eps/io/bytes.h"
#include "eps/io/content_hash.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

std::string tensor_name(int64_t dimension) { return "features_" + std::to_string(dimension); }

std::string file_name(const std::string& network_hash, const Tensor& images) {
  ContentHash hash;
  hash.add("Inception " + network_hash + " on " + to_string(images.sizes()) + ":");
  hash.add(bytes_of(images.to(at::kCPU, at::kFloat).contiguous()));
  return hash.hex() + ".safetensors";
}

// Returns nothing if the file is missing, broken or of other features.
std::optional<std::vector<Tensor>> read_features(const std::string& path,
                                                 const std::vector<int64_t>& dimensions,
                                                 int64_t images) {
  std::error_code ignored;  // a file that cannot be seen counts as missing
  if (!fs::exists(path, ignored)) return std::nullopt;
  Safetensors file;
  try {
    file = read_safetensors(path);
  } catch (const Error&) {  // features can be computed again, so a broken file is no failure
    return std::nullopt;
  }
  std::vector<Tensor> features;
  for (const int64_t dimension : dimensions) {
    const Tensor& tensor = file.tensors[tensor_name(dimension)];
    if (!tensor.defined() || tensor.scalar_type() != at::kDouble ||
        tensor.sizes() != Shape{images, dimension}) {
      return std::nullopt;
    }
    features.push_back(tensor);
  }
  return features;
}

}  // namespace

std::vector<Tensor> FeatureCache::features(const Inception& network,
                                           const std::string& network_hash,
                                           const Tensor& images) const {
  if (folder_.empty()) return network.features(images);
  const std::string path = (fs::path(folder_) / file_name(network_hash, images)).string();
  const auto& dimensions = network.dimensions();
  if (auto kept = read_features(path, dimensions, images.size(0))) return std::move(*kept);
  std::error_code error;
  fs::create_directories(folder_, error);
  check(!error, folder_, ": cannot make the folder: ", error.message());
  const std::vector<Tensor> features = network.features(images);
  Safetensors file;
  for (size_t i = 0; i < features.size(); ++i) {
    file.tensors[tensor_name(dimensions[i])] = features[i];
  }
  write_safetensors(path, file);
  return features;
}

}  // namespace eps
