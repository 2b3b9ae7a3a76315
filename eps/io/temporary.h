// Names of unfinished files and folders: "network.safetensors.1234.0.tmp".
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns a name beside `path` with the number of this process and a counter.
std::string temporary_name(const std::string& path);

// Returns whether `file` is a name that temporary_name() makes for `name`; an empty `name` stands
// for any.
bool is_temporary_of(const std::string& name, const std::string& file);

}  // namespace eps
