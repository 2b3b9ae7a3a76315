// The range of problems that a network was trained for, and warnings about problems outside it.
#pragma once

#include "eps/base/spec.h"
#include "eps/model/config.h"

namespace eps {

// Returns the range of measurement noise that a network was trained for, or an unlimited one if it
// is unknown.
Range trained_noise(const Provenance& trained);

// Returns warnings, one sentence each, and none about a network of unknown origin. `network` is its
// name.
std::vector<std::string> noise_warnings(const std::string& network,
                                        const Provenance& trained,
                                        double sigma_y);
// Returns a warning unless the training had an operator of the spec's name, with values like these.
// A mask from a file is like any other inpainting, a kernel from a file like any other blur. side:
// of the network's images, in pixels.
std::vector<std::string> operator_warnings(const std::string& network,
                                           const Provenance& trained,
                                           const std::string& spec,
                                           int64_t side);

// Returns a warning about a network of the posterior in the place of a prior, where it is asked as
// if nothing were measured (UnmeasuredQueries), unless its training had masks with hardly a pixel.
// The operators and the noise that it was trained for do not matter there.
std::vector<std::string> own_prior_warnings(const std::string& network,
                                            const Provenance& trained,
                                            int64_t side);

}  // namespace eps
