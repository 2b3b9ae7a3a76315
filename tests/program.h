// Runs of the program eps, for tests of its verbs. EPS_PROGRAM is the path of the program.
#pragma once

#include "tests/files.h"

namespace eps {

struct Outcome {
  int status = 0;      // exit status
  std::string output;  // standard output and error together
};

// Runs the program through the shell, which also expands `arguments`.
Outcome run_program(const std::string& program, const std::string& arguments);

}  // namespace eps
