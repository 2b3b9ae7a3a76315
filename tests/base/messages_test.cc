// The messages of the library, which programs other than eps see too.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/files.h"

namespace eps {
namespace {

// Custom properties of style sheets look like flags, and one file makes command lines.
bool is_exempt(const std::string& path) {
  return path.find("/report/") != std::string::npos || path.ends_with("/serve/restoration_form.cc");
}

TEST(Messages, NameNoFlagsAndNoVerbsOfTheProgram) {
  const std::regex hint(
      "\"[^\"]*(--[a-z]|\\beps "
      "(bench|convert|dataset|demo|denoise|list|metrics|operator|restore|run|runs|sample|serve|"
      "train|"
      "verify)\\b)[^\"]*\"");
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(EPS_SOURCE_DIR "/eps")) {
    const std::string path = entry.path().string();
    if ((!path.ends_with(".cc") && !path.ends_with(".h")) || is_exempt(path)) continue;
    ++files;
    std::istringstream lines(get_bytes(path));
    for (std::string line; std::getline(lines, line);)
      EXPECT_FALSE(std::regex_search(line.substr(0, line.find("//")), hint))
          << path << ": " << line;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace eps
