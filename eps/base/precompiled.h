// The precompiled header of the library: libtorch's headers, and others that are slow to compile.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>

#include "eps/base/core.h"
