// What is left to the size of a picture: samples, steps, memory, windows.
#pragma once

#include "eps/restore/holes.h"
#include "eps/restore/restore.h"

namespace eps {

bool is_large(const Problem& problem);  // more than kLarge pixels

// Returns the steps of the method; 0: its own number.
int64_t steps_for(const RestorationRequest& request, const Problem& problem);

// Returns the options with numbers where they are left to the size of the picture and the memory.
RestorationOptions options_for(const RestorationRequest& request,
                               const Checkpoint& network,
                               const Problem& problem);

// Returns the windows in which the holes of a mask are restored, the largest first; none: the
// picture is.
std::vector<Window> windows_for(const RestorationRequest& request,
                                const OperatorChoice& chosen,
                                const Checkpoint& network,
                                const Problem& problem);

}  // namespace eps
