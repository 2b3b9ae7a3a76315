// Clean images for a network, as verbs read them.
#pragma once

#include "eps/data/dataset.h"
#include "eps/model/checkpoint.h"

namespace eps::cli {

// A folder, an EDM .zip, synthetic images or an array, at most `count` of them (0: all), float32 in
// [-1, 1] of the network's size; anything else is an Error.
Dataset read_clean_images(const std::string& source,
                          int64_t count,
                          const nets::UNetConfig& network);

// labels_for() of the text, or else the data's own.
Tensor labels_for(const std::string& text, const Checkpoint& model, const Dataset& data);

}  // namespace eps::cli
