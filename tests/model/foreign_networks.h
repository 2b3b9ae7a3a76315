// Small networks of other programs, with the answers that tests/reference/foreign_networks.py
// recorded, and weights by its formula.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "eps/io/safetensors.h"
#include "tests/files.h"

namespace eps {

struct ForeignNetwork {
  std::string name;
  Safetensors state;                      // under the names of the other program
  std::map<std::string, Tensor> answers;  // x, sigma, D and perhaps labels
  std::string options;                    // of a spec
  std::string network, scheduler;         // texts of diffusers
};

// Number i of tensor k of the names in order is sin(i^2 (1 + k / 1000)), scaled by its fan-in.
inline std::map<std::string, Tensor> formula_weights(const std::map<std::string, Shape>& shapes) {
  std::map<std::string, Tensor> tensors;
  double k = 0;
  for (const auto& [name, shape] : shapes) {
    const Tensor i = at::arange(c10::multiply_integers(shape), at::kDouble);
    const Tensor wave = (at::sin(i * i * (1 + k / 1000)) * std::sqrt(2)).reshape(shape);
    const bool line = shape.size() == 1;
    const auto fan_in = static_cast<double>(wave[0].numel());
    tensors[name] =
        (line ? wave / 10 + (name.ends_with("weight") ? 1 : 0) : wave / std::sqrt(fan_in))
            .to(at::kFloat);
    ++k;
  }
  return tensors;
}

inline ForeignNetwork foreign_network(const std::string& name) {
  const Safetensors file =
      read_safetensors(EPS_SOURCE_DIR "/tests/fixtures/foreign_" + name + ".safetensors");
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  const auto shapes =
      nlohmann::json::parse(file.metadata.at("shapes")).get<std::map<std::string, Shape>>();
  return {name,
          {formula_weights(shapes), {}},
          file.tensors,
          text("options"),
          text("network"),
          text("scheduler")};
}

// Writes the network as its own program does, and returns the text that names it.
inline std::string write_foreign(const Folder& folder, const ForeignNetwork& network) {
  const std::string path = folder.file(network.name);
  if (network.network.empty()) {
    write_safetensors(path, network.state);
    return "guided_diffusion:file=" + path + "," + network.options;
  }
  std::filesystem::create_directory(path);
  write_safetensors(path + "/diffusion_pytorch_model.safetensors", network.state);
  put_bytes(path + "/config.json", network.network);
  put_bytes(path + "/scheduler_config.json", network.scheduler);
  return path;
}

}  // namespace eps
