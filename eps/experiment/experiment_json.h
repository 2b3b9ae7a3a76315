// An experiment as a JSON value.
#pragma once

#include "eps/base/json.h"
#include "eps/experiment/experiment.h"

namespace eps::experiment {

// Returns the object that parse_experiment() reads from text.
Json experiment_json(const Experiment& experiment);

}  // namespace eps::experiment
