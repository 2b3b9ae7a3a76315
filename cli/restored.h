// What eps restore makes, and the files it becomes.
#pragma once

#include "cli/measurement.h"
#include "eps/restore/restoration.h"

namespace eps::cli {

struct Noise {
  double sigma;
  bool estimated = false;
};

struct Restored {
  MeasuringOperator made_by;
  Measurement measurement;
  Noise noise;
  Restoration restoration;
};

// A row for each, under what its cells are called: the image if it is known, measurement, samples,
// mean, deviation (black: certain; white: the row's most uncertain pixel), and the 90% interval.
// They must agree in which of these they have.
Tensor sheet(const std::vector<std::pair<std::string, Restored>>& rows);

// Pictures, arrays, a sheet of all, and last restore.json, which says `words`, in the folder.
void write_restored(const std::string& folder, const Restored& result, const std::string& words);

}  // namespace eps::cli
