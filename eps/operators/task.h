// Tasks by name: the paper's distributions of operators.
#pragma once

#include "eps/operators/registry.h"

namespace eps {

// p(A) while training, and the fixed protocol at test time, as operator specs.
struct Task {
  std::string train;
  std::string test;
};

// The paper's tasks, by name (Sec. 4.1; App. B, Operator randomization; App. D, Extreme Tasks).
const std::map<std::string, Task>& tasks();

// One of tasks(), random_inpainting_<percent missing>, or any operator spec.
Task find_task(const std::string& name);

}  // namespace eps
