// The layout of the U-Net for pictures of any size.
#pragma once

#include "eps/nets/plan.h"

namespace eps::nets {

// Adds the layers of a LocalUNet behind its embedding.
void add_local_layout(UNetPlan& plan);

}  // namespace eps::nets
