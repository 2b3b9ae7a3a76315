// Names of the files that verbs write; the extension chooses the format.
#pragma once

#include <unistd.h>

#include <filesystem>

#include "eps/io/array.h"
#include "eps/io/new_folder.h"

namespace eps::cli {

inline bool is_png(const std::string& path) { return path.ends_with(".png"); }

// Refuses a path whose nearest existing parent folder cannot be written in.
inline void check_writable(const std::string& path) {
  std::error_code unreadable;
  std::filesystem::path above = std::filesystem::absolute(path, unreadable).lexically_normal();
  do above = above.parent_path();
  while (!std::filesystem::exists(above, unreadable) && above != above.root_path());
  check(std::filesystem::is_directory(above, unreadable) && ::access(above.c_str(), W_OK) == 0,
        path,
        ": cannot be written: ",
        above.string(),
        std::filesystem::is_directory(above, unreadable) ? " is not writable" : " is not a folder");
}

// Refuses a folder that is not empty.
inline void check_new_folder(const std::string& path) {
  check(NewFolder::is_free(path), path, ": exists; a new or an empty folder is wanted");
  check_writable(path);
}

// Refuses a file in a folder that does not exist. An empty path stands for no file.
inline void check_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  check(folder.empty() || std::filesystem::is_directory(folder),
        path,
        ": there is no folder ",
        folder);
  check(!std::filesystem::is_directory(path), path, ": is a folder; a file is wanted");
  if (!path.empty()) check_writable(path);
}

// Refuses a name without the extension of a format, or in a folder that does not exist, before the
// work starts.
inline void check_output(const std::string& path, bool png_too) {
  check(is_array_path(path) || (png_too && is_png(path)),
        path,
        ": the name must end in ",
        png_too ? ".png, " : "",
        ".npy or .safetensors");
  check_folder_of(path);
}

}  // namespace eps::cli
