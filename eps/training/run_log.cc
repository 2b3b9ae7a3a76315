// The log of a training run.
#include "eps/training/run_log.h"

#include <filesystem>

#include "eps/io/file.h"

namespace eps::training {

std::vector<LogLine> read_log(const std::string& path) {
  std::vector<LogLine> log;
  if (!std::filesystem::exists(path)) return log;
  std::istringstream lines(read_file(path));
  int64_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    const std::string where = path + ": line " + std::to_string(++number);
    try {
      Json json = parse_json(text, where);
      if (json.is_object()) log.push_back({text, where, std::move(json)});
    } catch (const Error&) {
      continue;
    }
  }
  return log;
}

}  // namespace eps::training
