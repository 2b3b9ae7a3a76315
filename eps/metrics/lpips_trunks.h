// The classifiers whose features LPIPS compares, up to the last feature in use.
#pragma once

#include "eps/nets/feature_net.h"

namespace eps {

struct LpipsTrunk {
  std::string name;      // "alex", "vgg" or "squeeze"
  int64_t smallest = 1;  // side of an image of which its last feature has a pixel
  nets::FeatureNet net;
};

const std::vector<LpipsTrunk>& lpips_trunks();

}  // namespace eps
