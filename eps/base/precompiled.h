// The precompiled header of the library: libtorch's headers, and the slowest of the others.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>

#include "eps/base/core.h"
