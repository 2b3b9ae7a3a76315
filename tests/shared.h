// The folder of reference files that may lie beside the checkout, or where EPS_SHARED says.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace eps {

// The path of a shared file; empty when it is not there.
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
