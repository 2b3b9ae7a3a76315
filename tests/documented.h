// Code blocks of the documentation, for comparison with the files that the tests compile.
#pragma once

#include "tests/files.h"

namespace eps {

// Returns the first block of C++ in a page under docs/.
inline std::string documented_code(const std::string& page) {
  const std::string text = get_bytes(EPS_SOURCE_DIR "/docs/" + page);
  const std::string opening = "```cpp\n";
  const size_t begin = text.find(opening) + opening.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

inline std::string example_code(const std::string& file) {
  return get_bytes(EPS_SOURCE_DIR "/examples/extend/" + file);
}

}  // namespace eps
