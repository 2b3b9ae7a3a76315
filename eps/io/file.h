// Whole files in and out: one read, one atomic write.
#pragma once

#include "eps/core.h"

namespace eps {

// The bytes of the file.
std::string read_file(const std::string& path);

// Replaces the file, or makes it, in one step: the bytes go to a temporary name in the same folder,
// reach the disk, and are renamed. On any failure the old file is untouched and no temporary stays.
// A path that is no regular file (a pipe, /dev/null) is written to directly: renaming over it would
// destroy it.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace eps
