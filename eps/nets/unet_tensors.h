// The tensors that a plan lists: initial values, and the check of given ones.
#pragma once

#include <map>

#include "eps/base/random.h"
#include "eps/nets/plan.h"

namespace eps::nets {

// Draws EDM's initial values of one tensor, in float64.
Tensor initial_tensor(const TensorSpec& spec, const UNetConfig& config, Rng& rng);

// Throws an Error for a tensor that is missing, has the wrong shape or is unknown to the plan.
void check_tensors(const UNetPlan& plan, const std::map<std::string, Tensor>& tensors);

}  // namespace eps::nets
