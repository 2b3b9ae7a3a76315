// The folder of an experiment's results, which belongs to one experiment.
#pragma once

#include "eps/experiment/experiment.h"

namespace eps::experiment {

// Makes the folder, or opens it again. A folder of another experiment (another title, or other
// images, samples, noise or seed), or with anything else in it, is an Error, and stays unchanged.
// Methods and tasks may differ: their cells are added. images_hash: content_hash() of the images.
void open_experiment_folder(const std::string& path,
                            const Experiment& experiment,
                            const std::string& images_hash);

}  // namespace eps::experiment
