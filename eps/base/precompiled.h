// The headers that most of the library takes in, compiled once: libtorch's, and what costs most
// beside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>

#include "eps/base/core.h"
