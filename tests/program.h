// Runs the program eps, for tests of its verbs. EPS_PROGRAM is its path.
#pragma once

#include "tests/files.h"

namespace eps {

struct Outcome {
  int status = 0;      // exit status
  std::string output;  // standard output and error together
};

// `arguments` goes through the shell.
Outcome run_program(const std::string& program, const std::string& arguments);

}  // namespace eps
