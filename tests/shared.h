// Optional reference files, in the folder EPS_SHARED or in one beside the checkout.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace eps {

// Returns the path of a shared file, or an empty string if the file does not exist.
inline std::string shared_file(const std::string& name) {
  const char* folder = std::getenv("EPS_SHARED");
#ifdef EPS_SHARED_DIR
  if (folder == nullptr) folder = EPS_SHARED_DIR;
#endif
  if (folder == nullptr) return "";
  const auto path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace eps
