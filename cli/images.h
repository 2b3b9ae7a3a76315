// Clean images for a network.
#pragma once

#include "eps/data/dataset.h"
#include "eps/model/checkpoint.h"

namespace eps::cli {

// Reads a folder, an EDM .zip, synthetic images or an array: at most `count` images (0: all),
// float32 in [-1, 1]. Refuses images that are not of the network's size; a local network takes any,
// the same for all images.
Dataset read_clean_images(const std::string& source,
                          int64_t count,
                          const nets::UNetConfig& network);

// Returns labels_for() of the text, or the labels of the data where the text is empty.
Tensor labels_for(const std::string& text, const Checkpoint& model, const Dataset& data);

}  // namespace eps::cli
