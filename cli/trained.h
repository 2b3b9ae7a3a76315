// What a network was trained for, and a word on stderr when it is asked for something else.
#pragma once

#include "eps/base/spec.h"
#include "eps/model/config.h"

namespace eps::cli {

// The measurement noise it was trained for; any, where that is unknown.
Range trained_noise(const Provenance& trained);

// model: the network's name, for messages. A network of unknown origin is never warned of.
void warn_of_new_noise(const std::string& model, const Provenance& trained, double sigma_y);
// An operator of the spec's name must be among those it was trained for, with values like these; a
// mask from a file is like any other inpainting, a kernel from a file like any other blur. side: of
// the network's images, in pixels.
void warn_of_new_operator(const std::string& model,
                          const Provenance& trained,
                          const std::string& spec,
                          int64_t side);

}  // namespace eps::cli
