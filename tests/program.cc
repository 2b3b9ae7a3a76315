// Runs of the program eps.
#include "tests/program.h"

#include <sys/wait.h>

#include <cstdio>

namespace eps {

Outcome run_program(const std::string& program, const std::string& arguments) {
  const std::string command = program + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  check(pipe != nullptr, "cannot run ", command);
  Outcome outcome;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    outcome.output.append(buffer, count);
  }
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace eps
