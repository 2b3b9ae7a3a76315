// The networks and images that come with eps, by name.
#include "eps/model/bundled.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "eps/base/spec.h"
#include "eps/io/torch/diffusers_folder.h"
#include "eps/model/foreign/families.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

const std::string kSuffix = ".safetensors";

bool is_folder(const std::string& path) {
  std::error_code ignored;  // a folder that cannot be read counts as absent
  return fs::is_directory(path, ignored);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Returns the folder of a file behind all links, or "" if there is no such file.
std::string real_folder_of(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path, nullptr), &std::free);
  return real ? fs::path(real.get()).parent_path().string() : "";
}

// Returns the folders of the library and of the program.
std::vector<std::string> own_folders() {
  std::vector<std::string> folders;
  Dl_info library = {};
  if (::dladdr(reinterpret_cast<const void*>(&find_model), &library) != 0 && library.dli_fname)
    folders.push_back(real_folder_of(library.dli_fname));
  folders.push_back(real_folder_of("/proc/self/exe"));
  std::erase(folders, "");
  return folders;
}

bool looks_like_a_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return true;
  const std::string suffix = fs::path(name).extension().string();
  for (const char* known : {".safetensors", ".pkl", ".pt", ".pth", ".ckpt"})
    if (suffix == known) return true;
  return false;
}

// Returns the path of `relative` in the first models folder that has it, or "".
std::string look_for(const std::string& relative) {
  for (const std::string& folder : model_folders())
    if (const std::string path = folder + "/" + relative; exists(path)) return path;
  return "";
}

}  // namespace

std::vector<std::string> model_folders() {
  std::vector<std::string> folders;
  const char* chosen = std::getenv("EPS_MODELS");
  if (chosen && *chosen) {
    check(is_folder(chosen), "EPS_MODELS: there is no folder ", chosen);
    folders.push_back(chosen);
  }
  for (const fs::path own : own_folders())
    // The places serve a source tree, from build/ and its folders, and an installation, from bin/,
    // lib/ and lib/<architecture>/.
    for (const char* place :
         {"models", "../models", "../../models", "../share/eps/models", "../../share/eps/models"}) {
      const fs::path folder = (own / place).lexically_normal();
      // A folder /models, as containers have, belongs to somebody else.
      if (folder.parent_path() == folder.root_path()) continue;
      if (std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder.string());
    }
  return folders;
}

std::vector<std::string> model_names() {
  std::set<std::string> names;
  for (const std::string& folder : model_folders()) {
    std::error_code ignored;  // a folder that is absent or cannot be read has no networks
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == kSuffix && entry.is_regular_file(ignored))
        names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::string find_model(const std::string& name) {
  if (exists(name) && (!is_folder(name) || is_diffusers_folder(name))) return name;
  if (is_network_spec(name)) return name;
  check_family_of_spec(name);
  const std::vector<std::string> names = model_names();
  const std::string stem = fs::path(name).stem().string();
  check(!looks_like_a_file(name),
        name,
        is_folder(name) ? ": is a folder without config.json" : ": no such file",
        std::find(names.begin(), names.end(), stem) == names.end()
            ? ""
            : "; one came with eps by the name of " + stem);
  const std::string path = look_for(name + kSuffix);
  if (!path.empty()) return path;
  fail("unknown network \"",
       name,
       "\"",
       suggestion(name, names),
       names.empty() ? "; none came with eps"
                     : "; there are: " + fmt::to_string(fmt::join(names, ", ")),
       "; or give a file");
}

std::string photos_network(at::Device device, bool large_on_cpu) {
  const std::string large = "photos-eps", small = "photos-eps-small";
  const bool affordable = large_on_cpu || !device.is_cpu();
  return affordable && !look_for(large + kSuffix).empty() ? large : small;
}

std::string find_in_models(const std::string& relative) {
  const std::string path = look_for(relative);
  check(!path.empty(),
        "no ",
        relative,
        " came with eps; looked in ",
        fmt::to_string(fmt::join(model_folders(), ", ")));
  return path;
}

}  // namespace eps
