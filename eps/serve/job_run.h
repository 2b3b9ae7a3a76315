// A restoration run for a server: progress told, running means kept, files written.
#pragma once

#include "eps/serve/job.h"
#include "eps/serve/limits.h"
#include "eps/serve/networks.h"

namespace eps::serve {

// The most pixels of a side of a running mean, which is reduced by a whole factor.
inline constexpr int64_t kPreviewSide = 1024;

// Restores what the job asks for, and writes the files of `eps restore` in its folder. Throws
// JobStopped after the evaluation in which the job was cancelled, or its time was over.
void run_job(Job& job, Networks& networks, const ServeLimits& limits);

// Returns the text without the name of a private folder, and of those in it: files have the names
// that the client gave them.
std::string public_words(std::string words, const std::string& folder);

}  // namespace eps::serve
