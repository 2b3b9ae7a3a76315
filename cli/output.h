// Names of the files that verbs write: the extension chooses the format.
#pragma once

#include "eps/io/array.h"

namespace eps::cli {

inline bool is_png(const std::string& path) { return path.ends_with(".png"); }

// Refuses a name that could not be written in the end, before the work starts.
inline void check_output(const std::string& path, bool png_too) {
  check(is_array_path(path) || (png_too && is_png(path)),
        path,
        ": can write ",
        png_too ? ".png, " : "",
        ".npy or .safetensors files");
}

}  // namespace eps::cli
