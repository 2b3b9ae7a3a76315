// The Inception network of FID as a table.
#pragma once

#include "eps/nets/feature_net.h"

namespace eps {

struct InceptionBlock {
  std::string
      name;  // torchvision's: "Mixed_6e"; of the first layers, up to the second pool: "stem"
  nets::FeatureBlock block;
};

// Returns the blocks in order; none is tapped.
const std::vector<InceptionBlock>& inception_blocks();

}  // namespace eps
