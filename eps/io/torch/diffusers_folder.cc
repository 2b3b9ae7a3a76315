// Folders of diffusers.
#include "eps/io/torch/diffusers_folder.h"

#include <filesystem>

#include "eps/io/file.h"
#include "eps/io/torch/any_checkpoint.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;  // what cannot be read counts as absent
  return fs::is_regular_file(path, ignored);
}

// Returns the folder of the network itself: this one, or `unet` in it.
fs::path folder_of_network(const fs::path& folder) {
  return is_file(folder / "config.json") ? folder : folder / "unet";
}

std::string weights_in(const fs::path& folder) {
  for (const char* name : {"diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.bin"})
    if (is_file(folder / name)) return (folder / name).string();
  fail(folder.string(),
       ": has a config.json, but neither diffusion_pytorch_model.safetensors nor "
       "diffusion_pytorch_model.bin; weights in several files are not read");
}

// Returns the scheduler's configuration: beside the network's, or in `scheduler` beside or above.
std::string scheduler_of(const fs::path& folder) {
  const fs::path above = fs::absolute(folder).lexically_normal() / "..";
  for (const fs::path& place : {folder / "scheduler_config.json",
                                folder / "scheduler" / "scheduler_config.json",
                                above / "scheduler" / "scheduler_config.json",
                                above / "scheduler_config.json"})
    if (is_file(place)) return place.string();
  return "";
}

}  // namespace

bool is_diffusers_folder(const std::string& path) {
  return is_file(folder_of_network(path) / "config.json");
}

Safetensors read_diffusers_folder(const std::string& path) {
  const fs::path folder = folder_of_network(path);
  Safetensors file = read_any_checkpoint(weights_in(folder));
  file.metadata = {{kDiffusersConfig, read_file((folder / "config.json").string())},
                   {"source", "diffusers"}};
  if (const std::string scheduler = scheduler_of(folder); !scheduler.empty())
    file.metadata[kDiffusersScheduler] = read_file(scheduler);
  return file;
}

}  // namespace eps
