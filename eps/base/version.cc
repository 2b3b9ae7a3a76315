// The version of eps, as CMake knows it.
#include "eps/base/version.h"

namespace eps {

std::string version() { return EPS_VERSION; }

}  // namespace eps
