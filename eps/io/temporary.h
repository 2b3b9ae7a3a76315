// Names of files and folders that are not finished: "network.safetensors.1234.0.tmp".
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns a name beside `path` with the number of this process and one of its own.
std::string temporary_name(const std::string& path);

// Returns whether the file name is one that temporary_name() gives for `name`; an empty `name`
// stands for any.
bool is_temporary_of(const std::string& name, const std::string& file);

}  // namespace eps
