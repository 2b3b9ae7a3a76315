// What the residual of samples says of the operator, in words.
#pragma once

#include <optional>

#include "eps/restore/residual_tests.h"
#include "eps/restore/restoration.h"

namespace eps {

// Returns the problem whose blur has the kernel turned by 180 degrees, as programs that correlate
// instead of convolving understand it; none if the operator is no circular blur of one kernel or if
// the kernel is its own mirror image.
std::optional<Problem> with_flipped_kernel(const Problem& problem);

// Returns a sentence for each likely cause of the structure that the tests found, and none if they
// found none. `flipped` holds the tests with the flipped kernel, if it was tried; `spec` names the
// operator.
std::vector<std::string> operator_findings(const ResidualTests& tests,
                                           const std::optional<ResidualTests>& flipped,
                                           const std::string& spec);

}  // namespace eps
