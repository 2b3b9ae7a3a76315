// Tasks by name: the paper's distributions of operators.
#pragma once

#include "eps/operators/registry.h"

namespace eps {

// A `Task` holds p(A) of training and the fixed protocol of testing, as operator specs.
struct Task {
  std::string train;
  std::string test;
};

// Returns the paper's tasks by name (Sec. 4.1; App. B, Operator randomization; App. D, Extreme
// Tasks).
const std::map<std::string, Task>& tasks();

// Returns one of tasks(), random_inpainting_<percent missing>, or the task of any operator spec.
Task find_task(const std::string& name);

}  // namespace eps
