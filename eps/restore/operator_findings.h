// What the residual of samples says of the operator, in words.
#pragma once

#include <optional>

#include "eps/restore/residual_tests.h"
#include "eps/restore/restoration.h"

namespace eps {

// Returns the problem whose blur has the kernel turned by 180 degrees, as programs that correlate
// instead of convolving understand it, and the same border; none if the operator is no blur of one
// kernel with a border, or if the kernel is its own mirror image. `problem` is not whitened.
std::optional<Problem> with_flipped_kernel(const Problem& problem,
                                           const std::optional<Border>& border);

// A `KernelTrial` compares a kernel with its mirror image. Both lose the same frequencies, so that
// at the noise of the measurement samples fit both about as well, by another image. Under larger
// noise the image is more the network's, and chi2 is smaller for the right kernel. As d ln p(y) /
// d ln sigma_y^2 = M (chi2 - 1)/2, the likelihoods of the two differ by the integral of their chi2
// over the noise levels above.
struct KernelTrial {
  double sigma_y = 0;             // at which chi2 was taken
  double given = 0, flipped = 0;  // chi2
  bool refuted = false;           // the residual of the flipped kernel has structure, too

  // In 23 trials each of faces64-eps the ratio of the chi2 of the wrong kernel and the right one
  // was 1.03 at least (docs/commands.md).
  static constexpr double kRatio = 1.015;
  bool is_flipped() const { return !refuted && given > kRatio * flipped; }
  bool is_given() const { return flipped > kRatio * given; }
};

// Returns a sentence for each likely cause of the structure that the tests found, and none if they
// found none; a kernel that the trial calls flipped is the cause of everything. `spec` names the
// operator; border: that of a blur, if it is one.
std::vector<std::string> operator_findings(const ResidualTests& tests,
                                           const std::optional<KernelTrial>& trial,
                                           const std::string& spec,
                                           const std::optional<Border>& border);

}  // namespace eps
