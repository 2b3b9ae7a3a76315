// Denoisers in memory, each read once for all cells of an experiment that use it.
#pragma once

#include "eps/experiment/inputs.h"

namespace eps::experiment {

// A `DenoiserCache` holds a denoiser from its first use to its last, as far as the files of all
// that it holds have no more than `most_bytes` together: beyond, the one that was used longest ago
// goes.
class DenoiserCache {
 public:
  using Load = decltype(ExperimentInputs::load);

  explicit DenoiserCache(Load load, uintmax_t most_bytes = uintmax_t{8} << 30)
      : load_(std::move(load)), most_bytes_(most_bytes) {}

  // Announces one use of a file with this input.
  void expect(const std::string& file, const NetworkInput& input) {
    ++held_[{file, to_string(input)}].uses;
  }
  // Returns the denoiser, read unless it is held.
  LoadedDenoiser get(const std::string& file, const NetworkInput& input, const std::string& method);
  // Ends one use; after the last, the denoiser goes.
  void release(const std::string& file, const NetworkInput& input);

 private:
  struct Held {
    std::optional<LoadedDenoiser> denoiser = {};
    int64_t uses = 0;  // that are still to come
    uint64_t last_use = 0;
    uintmax_t bytes = 0;
  };

  void make_room(uintmax_t bytes);

  const Load load_;
  const uintmax_t most_bytes_;
  std::map<std::pair<std::string, std::string>, Held> held_;  // by file and input
  uint64_t clock_ = 0;
};

}  // namespace eps::experiment
