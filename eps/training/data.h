// The images of a training run: the training set, and the held-out set.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

struct TrainingData {
  std::unique_ptr<ImageSet> train;
  std::unique_ptr<ImageSet> held_out;  // null: none
};

// Loads the images that the configuration names, or the pictures from which it wants crops.
// Held-out crops are neither mirrored nor transposed. `say` receives a line about each image that
// is left out.
TrainingData load_training_data(const TrainingConfig& config,
                                const std::function<void(const std::string&)>& say);

// Moves the images to the device if they fit there.
void keep_near(ImageSet& data, at::Device device);

}  // namespace eps::training
