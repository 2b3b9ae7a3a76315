// The claim that pictures restored tile by tile have no seams.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Returns the relative difference between posterior samples of a local network, with random
// weights, that is evaluated tile by tile and of one that sees the whole picture.
double tiles_error(const std::string& spec, uint64_t seed);

}  // namespace eps
