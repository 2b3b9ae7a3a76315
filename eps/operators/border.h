// Borders of a convolution: what lies beyond the frame.
#pragma once

#include "eps/base/spec.h"

namespace eps {

// A `Border` is the rule for pixels beyond the frame, here of the row "abcd":
//   circular    abcd|abcd|abcd  what leaves at one edge comes in at the other
//   valid       the frame of y is smaller, so that no pixel of y needs one beyond x
//   reflect     dcba|abcd|dcba  (OpenCV's BORDER_REFLECT, SciPy's "reflect")
//   reflect101  dcb|abcd|cba    (OpenCV's default, SciPy's "mirror")
//   replicate   aaaa|abcd|dddd  (SciPy's "nearest")
//   zero        0000|abcd|0000
enum class Border { circular, valid, reflect, reflect101, replicate, zero };

Field border_field();  // "border", circular unless given
Border border_of(const Spec& spec);
std::string to_string(Border border);
Border parse_border(const std::string& name);

// Returns the matrix, (n + before + after, n), that continues a row of n pixels beyond the frame.
// valid: the identity, whatever is asked for.
Tensor padding_matrix(Border border, int64_t n, int64_t before, int64_t after);

// Returns the matrix of the convolution of a row of n pixels with `line`, (N or 1, k), whose origin
// is at index k/2: (N or 1, n, n), or (N or 1, n - k + 1, n) for valid.
Tensor convolution_matrix(Border border, const Tensor& line, int64_t n);

}  // namespace eps
