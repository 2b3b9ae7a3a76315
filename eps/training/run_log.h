// The log of a training run: one JSON object a line.
#pragma once

#include <nlohmann/json.hpp>

#include "eps/base/json.h"

namespace eps::training {

// A `LogLine` is a line as text and as an object; `where` names file and line in messages.
struct LogLine {
  std::string text, where;
  Json json;
};

// Returns the lines of the file, none where it is absent. A line that is no JSON object, as a
// killed process leaves at the end, is left out.
std::vector<LogLine> read_log(const std::string& path);

}  // namespace eps::training
