// Denoisers in memory, each read once.
#include "eps/experiment/denoiser_cache.h"

#include <filesystem>

namespace eps::experiment {
namespace {

// Returns 0 for an exact prior, which has no file.
uintmax_t size_of(const std::string& file) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(file, error);
  return error ? 0 : bytes;
}

}  // namespace

LoadedDenoiser DenoiserCache::get(const std::string& file,
                                  const NetworkInput& input,
                                  const std::string& method) {
  Held& held = held_[{file, to_string(input)}];
  held.last_use = ++clock_;
  if (!held.denoiser) {
    const uintmax_t bytes = size_of(file);
    make_room(bytes);
    held.denoiser = load_(file, input, method);
    held.bytes = bytes;
  }
  return *held.denoiser;
}

void DenoiserCache::release(const std::string& file, const NetworkInput& input) {
  const auto found = held_.find({file, to_string(input)});
  if (found != held_.end() && --found->second.uses <= 0) held_.erase(found);
}

void DenoiserCache::make_room(uintmax_t bytes) {
  while (true) {
    uintmax_t all = bytes;
    Held* oldest = nullptr;
    for (auto& [key, held] : held_) {
      if (!held.denoiser) continue;
      all += held.bytes;
      if (oldest == nullptr || held.last_use < oldest->last_use) oldest = &held;
    }
    if (all <= most_bytes_ || oldest == nullptr) return;
    oldest->denoiser.reset();
  }
}

}  // namespace eps::experiment
