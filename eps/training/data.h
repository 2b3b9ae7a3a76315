// The images of a training run: the training set, and the held-out set.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

struct TrainingData {
  Dataset train;
  Dataset held_out;  // empty: none
};

// Loads the images that the configuration names. `say` receives a line about images that are left
// out.
TrainingData load_training_data(const TrainingConfig& config,
                                const std::function<void(const std::string&)>& say);

// Moves the images to the device if they fit there.
void keep_near(ImageSet& data, at::Device device);

}  // namespace eps::training
