// Who does what of an experiment, and what tells one cell from another.
#pragma once

#include "eps/methods/method.h"

namespace eps::experiment {

// Which rank does what, by the name of its folder: the longest first, each to the rank with the
// least to do. All ranks find the same.
std::map<std::string, int64_t> share_out(const std::map<std::string, double>& work, int64_t ranks);

// A method with all its options, as text.
std::string options_text(const MethodChoice& choice);

// The files that a task's operator is read from, by their content.
std::string files_hash(const std::string& task);

}  // namespace eps::experiment
