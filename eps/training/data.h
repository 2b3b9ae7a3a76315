// The images of a training run: those it learns from, and those it is judged by.
#pragma once

#include "eps/training/config.h"

namespace eps::training {

struct TrainingData {
  Dataset train;
  Dataset held_out;  // empty: none
};

// `say` hears of images that are left out.
TrainingData load_training_data(const TrainingConfig& config,
                                const std::function<void(const std::string&)>& say);

// Moves the images to the device if they fit there.
void keep_near(Dataset& data, at::Device device);

}  // namespace eps::training
