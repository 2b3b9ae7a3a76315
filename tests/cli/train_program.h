// Short runs of eps train as a user starts them.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "eps/io/safetensors.h"
#include "tests/program.h"

namespace eps {

inline const std::string kTiny =
    " --data synthetic:size=16,count=64 --holdout 16 --tasks random_inpainting super_resolution_4x"
    " --preset tiny --batch 16 --preview-images 2 --validation-images 16 --device cpu ";

inline Outcome eps_train(const std::string& arguments, const std::string& environment = "") {
  return run_program("OMP_NUM_THREADS=1 " + environment + " " + EPS_PROGRAM,
                     "--threads 1 train " + arguments);
}

inline std::vector<nlohmann::json> lines_of(const std::string& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(get_bytes(path));
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline double difference(const std::string& a, const std::string& b) {
  const Safetensors x = read_safetensors(a), y = read_safetensors(b);
  check(x.tensors.size() == y.tensors.size(), a, " and ", b, " hold different tensors");
  double most = 0;
  for (const auto& [name, tensor] : x.tensors)
    most = std::max(most, (tensor - y.tensors.at(name)).abs().max().item<double>());
  return most;
}

inline std::string state_name(int64_t images) {
  return fmt::format("/state-{:012d}.safetensors", images);
}

}  // namespace eps
