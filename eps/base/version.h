// The version of eps.
#pragma once

#include <string>

namespace eps {

std::string version();  // "0.1.0"

}  // namespace eps
