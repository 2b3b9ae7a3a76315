// Which frequencies of k-space a Cartesian scan measures, drawn or from a file.
#pragma once

#include "eps/base/random.h"
#include "eps/base/spec.h"

namespace eps {

// Draws masks of 0 and 1, (N, H, W) in fft2 order: the central columns (field `center`), and random
// ones until width/acceleration are kept.
Tensor draw_columns(const Spec& spec, const Tensor& like, Rng& rng);

// Reads a mask in fft2 order, (N or 1, H, W). The field `zero` says where the file has the zero
// frequency: "center" or "corner".
Tensor read_frequency_mask(const Spec& spec, const std::string& path, const Tensor& like);

// Returns the fields that these functions read.
std::vector<Field> column_fields();
Field zero_field();

}  // namespace eps
