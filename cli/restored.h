// The files of eps restore.
#pragma once

#include "eps/restore/restore.h"

namespace eps::cli {

// A row for each, under the names of its cells: the image if it is known, measurement, samples,
// mean, deviation (black: certain; white: the row's most uncertain pixel), and the 90% interval.
// The rows must agree in which of these they have.
Tensor sheet(const std::vector<std::pair<std::string, RestorationResult>>& rows);

// Writes pictures, arrays, a sheet of all, and last restore.json, the report, in the folder.
void write_restored(const std::string& folder, const RestorationResult& result);

}  // namespace eps::cli
