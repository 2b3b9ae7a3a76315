// The files of a restoration.
#pragma once

#include "eps/restore/restore.h"

namespace eps::report {

// Draws a labelled row for each result: the image if known, measurement, samples, mean, deviation
// (black: certain; white: the row's most uncertain pixel), and the 90% interval. All rows must have
// the same cells.
Tensor restored_sheet(const std::vector<std::pair<std::string, RestorationResult>>& rows);

// Writes pictures, arrays, the sheet, and last the report restore.json in the folder. Samples,
// mean, interval and measurement are pictures in the format of the measurement. Of pictures of more
// than kMostPixelsOfArrays there are no arrays unless all_arrays asks for them.
inline constexpr int64_t kMostPixelsOfArrays = 4000000;
void write_restored(const std::string& folder,
                    const RestorationResult& result,
                    bool all_arrays = false);

}  // namespace eps::report
