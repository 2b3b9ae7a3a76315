// The files of eps restore.
#pragma once

#include "eps/restore/restore.h"

namespace eps::cli {

// Draws a labelled row for each result: the image if known, measurement, samples, mean, deviation
// (black: certain; white: the row's most uncertain pixel), and the 90% interval. All rows must have
// the same cells.
Tensor sheet(const std::vector<std::pair<std::string, RestorationResult>>& rows);

// Writes pictures, arrays, the sheet, and last the report restore.json in the folder. Samples,
// mean, interval and measurement are pictures in the format of the measurement.
void write_restored(const std::string& folder, const RestorationResult& result);

}  // namespace eps::cli
