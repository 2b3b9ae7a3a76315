// Restorations as Python has them.
#pragma once

#include "binding.h"
#include "eps/restore/restore.h"

namespace eps::python {

// Returns what eps.Restoration is made of: its tensors and words, and the result itself, of which
// the library draws the sheet and writes the files.
py::dict to_python(RestorationResult found);

}  // namespace eps::python
