// The distribution of an experiment's cells over ranks, and the texts that tell cells apart.
#pragma once

#include "eps/methods/method.h"

namespace eps::experiment {

// Returns the rank of each cell, by the name of its folder: the longest first, each to the rank
// with the least work. All ranks find the same distribution.
std::map<std::string, int64_t> share_out(const std::map<std::string, double>& work, int64_t ranks);

// Returns a method with all its options, as text.
std::string options_text(const MethodChoice& choice);

// Returns the content hashes of the files that a task's operator is read from.
std::string files_hash(const std::string& task);

}  // namespace eps::experiment
